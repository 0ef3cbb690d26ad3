// The page of `fallow report` in a real browser, driven by its address; what it shows it tells in
// attributes of its body.
#include <gtest/gtest.h>

#include <cstdlib>

#include "platform/temporary_directory.h"
#include "profile/export/report_tree.h"
#include "tests/profile/export/exported.h"
#include "tests/profile/profile_of.h"
#include "tests/profile/simulated_program.h"

namespace fallow::profile {
namespace {

using nlohmann::json;

class ReportPage : public ::testing::Test {
 protected:
  void SetUp() override {
    if (std::system("chromium --version >/dev/null 2>&1") != 0) {  // NOLINT: a test's own command
      GTEST_SKIP() << "chromium is not installed (package chromium)";
    }
    test::RecordingBuilder builder;
    builder.meta("command", std::string("/bin/cc\0</script><script>document.title='broken'", 50));
    auto program = test::simulated_compiler();
    program.record({.interval_bytes = 4096, .objects = 20'000}, builder);
    const Profile profile = test::profile_of(builder);
    total_ = total_of(profile);
    folder_.write("page.html", test::exported(profile, ExportFormat::kHtml));
  }

  // What the page tells of itself at each of the addresses. One browser opens them all in frames:
  // starting it takes longer than everything else.
  std::vector<json> page_at(const std::vector<std::string>& addresses) {
    folder_.write("all.html", "<body><pre id=out></pre><script>const addresses=" +
                                  json(addresses).dump() + kDriver + "</script></body>");
    const std::string command =
        "HOME=" + folder_.path() + " timeout 100 chromium --headless --no-sandbox --disable-gpu " +
        "--allow-file-access-from-files --virtual-time-budget=20000 --dump-dom file://" +
        folder_.file("all.html") + " >" + folder_.file("dom") + " 2>/dev/null";
    EXPECT_EQ(std::system(command.c_str()), 0);  // NOLINT: a test's own command
    const std::string dom = test::read_file(folder_.file("dom"));
    std::vector<json> pages(addresses.size());
    for (std::size_t i = 0, at = 0; i < pages.size(); ++i) {
      at = dom.find("@{", at);
      if (at == std::string::npos) break;
      pages[i] = json::parse(dom.substr(at + 1, dom.find("}@", at) - at));
      ++at;
    }
    return pages;
  }

  static double number(const json& page, const char* name) {
    return page.contains(name) ? std::stod(page[name].get<std::string>()) : -1;
  }

  static constexpr const char* kDriver = R"(;
    const told = [];
    addresses.forEach((address, i) => {
      const frame = document.createElement('iframe');
      frame.width = 1200; frame.height = 800;
      frame.onload = () => setTimeout(() => {
        told[i] = JSON.stringify({ ...frame.contentDocument.body.dataset, title: frame.contentDocument.title });
        document.getElementById('out').textContent = told.map((t) => '@' + t + '@').join('\n');
      }, 300);
      frame.src = 'page.html#' + address;
      document.body.append(frame);
    });)";

  test::TemporaryDirectory folder_;
  Breakdown total_;
};

TEST_F(ReportPage, ShowsWhatItsAddressSays) {
  const std::vector<json> pages =
      page_at({"view=allocates", "view=survives", "view=pauses", "weight=1", "weight=2&inverted=1",
               "search=main", "search=Cache%3A%3Ainsert&inverted=1", "range=0-32", "range=32-64",
               "zoom=2.3"});
  const double total = total_.allocated.bytes();
  const char* const views[] = {"allocates", "survives", "pauses"};
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(pages[i]["ready"], "yes");
    EXPECT_EQ(pages[i]["view"], views[i]);
    EXPECT_EQ(pages[i]["title"], "cc – fallow");
    EXPECT_EQ(number(pages[i], "total"), total);
  }
  EXPECT_EQ(number(pages[3], "total"), total_.live.bytes());
  EXPECT_EQ(number(pages[4], "total"), total_.died_young.bytes());
  EXPECT_GT(number(pages[4], "boxes"), 5);
  EXPECT_EQ(number(pages[5], "matched"), total);
  EXPECT_GT(number(pages[6], "matched"), 0);
  EXPECT_LT(number(pages[6], "matched"), total / 2);
  EXPECT_GT(number(pages[7], "total"), 0);
  EXPECT_EQ(number(pages[7], "total") + number(pages[8], "total"), total);
  // Down to main and compile(Unit&), the second and third name.
  EXPECT_GT(number(pages[9], "zoomed"), 0);
  EXPECT_LT(number(pages[9], "zoomed"), total);
}

TEST(ReportTree, KeepsTheTotalWhenSmallPlacesAreLeftOut) {
  test::RecordingBuilder builder;
  builder.epoch(64);
  const auto root = builder.frame(0, "main");
  for (std::uint64_t i = 1; i <= 3000; ++i) {
    const auto node = builder.frame(root, "function" + std::to_string(i));
    builder.sample(1, static_cast<std::int64_t>(i),
                   {i, node, i < 10 ? std::uint64_t{100'000} : 16});
  }
  const Profile profile = test::profile_of(builder);
  const ReportTree tree = report_tree_of(profile, 100);
  EXPECT_LE(tree.nodes.size(), 100U);
  EXPECT_GT(tree.left_out, 2900U);
  for (std::uint32_t i = 1; i < tree.nodes.size(); ++i) EXPECT_LT(tree.nodes[i].parent, i);
  double sum = 0;
  const ReportRows rows = report_rows_of(profile, tree, 50);
  EXPECT_LE(rows.rows.size(), 50U);
  for (const ReportRow& row : rows.rows) {
    EXPECT_LT(row.node, tree.nodes.size());
    EXPECT_LT(row.slice, rows.slices);
    sum += row.bytes.allocated.bytes();
  }
  EXPECT_EQ(sum, total_of(profile).allocated.bytes());
}

}  // namespace
}  // namespace fallow::profile
