// Each format, read back: sums are those of the profile, and no name breaks it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <sstream>

#include "platform/temporary_directory.h"
#include "profile/export/clean_text.h"
#include "tests/profile/export/exported.h"
#include "tests/profile/profile_of.h"
#include "tests/profile/simulated_program.h"

namespace fallow::profile {
namespace {

using nlohmann::json;
using test::exported;
using test::profile_of;
using test::RecordingBuilder;
using test::unpacked;

Profile compiler_profile(std::uint64_t objects = 20'000) {
  RecordingBuilder builder;
  builder.meta("command", std::string("/bin/cc\0</script>\0\"\xFF", 20));
  builder.meta("pid", "7");
  auto program = test::simulated_compiler();
  program.record({.interval_bytes = 4096, .objects = objects}, builder);
  builder.time(1, 1'000'000, 1, 1'000'000);
  builder.time(1, 2'000'000, 1, 1'000'000, 1);
  builder.lost(3'000'000, 2, 2048, 100, LossReason::kNoBuffer);
  return profile_of(builder);
}

double sum_of(const json& numbers) {
  double sum = 0;
  for (const json& number : numbers) sum += number.get<double>();
  return sum;
}

struct PprofSums {
  std::vector<std::uint64_t> values = std::vector<std::uint64_t>(4);
  std::size_t strings = 0;
  std::uint64_t largest_string = 0;
};

PprofSums pprof_sums(const std::string& packed) {
  PprofSums sums;
  const std::string text = unpacked(packed);
  for (const auto& field : test::ProtobufFields(text).all()) {
    if (field.field == 6) ++sums.strings;
    if (field.field != 2) continue;
    for (const auto& part : test::ProtobufFields(field.bytes).all()) {
      if (part.field == 2) {
        const auto values = test::ProtobufFields(part.bytes).packed();
        for (std::size_t i = 0; i < 4; ++i) sums.values[i] += values.at(i);
      } else if (part.field == 3) {
        for (const auto& label : test::ProtobufFields(part.bytes).all()) {
          if (label.field != 3) sums.largest_string = std::max(sums.largest_string, label.number);
        }
      }
    }
  }
  return sums;
}

double folded_sum(const std::string& text) {
  std::istringstream lines(text);
  double sum = 0;
  for (std::string line; std::getline(lines, line);) {
    sum += std::stod(line.substr(line.rfind(' ')));
  }
  return sum;
}

json page_data(const std::string& page) {
  const std::string begin = "<script type=\"application/json\" id=\"data\">";
  const std::size_t at = page.find(begin) + begin.size();
  return json::parse(page.substr(at, page.find("</script>", at) - at));
}

TEST(Exporters, SumsAreThoseOfTheProfile) {
  const Profile profile = compiler_profile();
  const Breakdown total = total_of(profile);
  ASSERT_GT(total.live.bytes(), 0);

  const PprofSums pprof = pprof_sums(exported(profile, ExportFormat::kPprof));
  EXPECT_NEAR(static_cast<double>(pprof.values[0]), total.allocated.objects(), 1);
  EXPECT_EQ(static_cast<double>(pprof.values[1]), total.allocated.bytes());
  EXPECT_NEAR(static_cast<double>(pprof.values[2]), total.live.objects(), 1);
  EXPECT_EQ(static_cast<double>(pprof.values[3]), total.live.bytes());
  EXPECT_LT(pprof.largest_string, pprof.strings);

  const json speedscope = json::parse(exported(profile, ExportFormat::kSpeedscope));
  const double wanted[] = {total.allocated.bytes(), total.live.bytes(), total.died_young.bytes()};
  for (std::size_t i = 0; i < 3; ++i) {
    const json& part = speedscope["profiles"][i];
    EXPECT_EQ(sum_of(part["weights"]), wanted[i]);
    EXPECT_EQ(part["endValue"], wanted[i]);
    EXPECT_EQ(part["samples"].size(), part["weights"].size());
    for (const json& stack : part["samples"]) {
      for (const json& frame : stack) {
        EXPECT_LT(frame.get<std::size_t>(), speedscope["shared"]["frames"].size());
      }
    }
  }
  for (const auto& [weight, bytes] :
       {std::pair{ExportWeight::kAllocated, wanted[0]}, std::pair{ExportWeight::kLive, wanted[1]},
        std::pair{ExportWeight::kDied, wanted[2]}}) {
    EXPECT_EQ(folded_sum(exported(profile, ExportFormat::kFolded, {.weight = weight})), bytes);
    const ExportOptions few{.weight = weight, .max_rows = 3};
    const std::string text = exported(profile, ExportFormat::kFolded, few);
    EXPECT_EQ(folded_sum(text), bytes);
    EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 4);
  }
  const json page = page_data(exported(profile, ExportFormat::kHtml));
  EXPECT_EQ(sum_of(page["rows"]["a"]), wanted[0]);
  EXPECT_EQ(sum_of(page["rows"]["l"]), wanted[1]);
  EXPECT_EQ(sum_of(page["rows"]["y"]), wanted[2]);
}

TEST(Exporters, FirefoxSumsAndPairs) {
  const Profile profile = compiler_profile();
  const Breakdown total = total_of(profile);
  const json firefox = json::parse(unpacked(exported(profile, ExportFormat::kFirefox)));
  EXPECT_EQ(firefox["meta"]["preprocessedProfileVersion"], 66);
  const json& rows = firefox["threads"][0]["nativeAllocations"];
  std::map<std::uint64_t, double> live;
  double allocated = 0;
  for (std::size_t i = 0; i < rows["length"]; ++i) {
    const double weight = rows["weight"][i];
    double& held = live[rows["memoryAddress"][i]];
    ASSERT_NE(weight, 0);
    ASSERT_EQ(held, weight > 0 ? 0 : -weight) << "row " << i;
    held += weight;
    if (weight > 0) allocated += weight;
    if (i > 0) {
      ASSERT_LE(rows["time"][i - 1], rows["time"][i]);
    }
    ASSERT_LT(rows["stack"][i], firefox["shared"]["stackTable"]["length"]);
  }
  EXPECT_EQ(allocated, total.allocated.bytes());
  double alive = 0;
  for (const auto& [id, bytes] : live) alive += bytes;
  EXPECT_EQ(alive, total.live.bytes());
  EXPECT_EQ(firefox["threads"][0]["samples"]["length"], 2);
  EXPECT_GT(firefox["threads"][0]["markers"]["length"], 100);
  EXPECT_EQ(firefox["counters"].size(), 3U);
}

// Every column of every table has its length, and every parent comes first.
TEST(Exporters, FirefoxTablesAreWhole) {
  const json firefox =
      json::parse(unpacked(exported(compiler_profile(2000), ExportFormat::kFirefox)));
  const json& shared = firefox["shared"];
  const auto check = [](const json& table, const std::string& name) {
    for (const auto& [column, values] : table.items()) {
      if (!values.is_array()) continue;
      EXPECT_EQ(values.size(), table["length"].get<std::size_t>()) << name << "." << column;
    }
  };
  for (const char* const name : {"stackTable", "frameTable", "funcTable", "resourceTable",
                                 "nativeSymbols", "sources", "sourceLocationTable"}) {
    check(shared[name], name);
  }
  for (const json& thread : firefox["threads"]) {
    for (const char* const name : {"samples", "markers", "nativeAllocations"}) {
      check(thread[name], name);
    }
    for (const json& data : thread["markers"]["data"]) {
      const auto& schemas = firefox["meta"]["markerSchema"];
      EXPECT_TRUE(std::any_of(schemas.begin(), schemas.end(), [&data](const json& schema) {
        return schema["name"] == data["type"];
      }));
    }
  }
  const json& stacks = shared["stackTable"];
  for (std::size_t i = 0; i < stacks["length"]; ++i) {
    EXPECT_LE(stacks["prefixOffset"][i].get<std::size_t>(), i);
    EXPECT_LT(stacks["frame"][i], shared["frameTable"]["length"]);
  }
}

TEST(Exporters, CsvHasARowForEachPlace) {
  const Profile profile = compiler_profile();
  const std::string text = exported(profile, ExportFormat::kCsv);
  // Line ends inside quotes belong to names.
  std::size_t rows = 0;
  bool quoted = false;
  double sum = 0;
  bool at_start = true;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (at_start && rows > 0) sum += std::stod(text.substr(i));
    at_start = false;
    if (text[i] == '"') quoted = !quoted;
    if (text[i] == '\n' && !quoted) {
      ++rows;
      at_start = i + 1 < text.size();
    }
  }
  EXPECT_EQ(rows, 1 + 9U);
  EXPECT_EQ(sum, total_of(profile).allocated.bytes());
}

TEST(Exporters, NamesBreakNoPage) {
  const std::string page = exported(compiler_profile(2000), ExportFormat::kHtml);
  std::size_t ends = 0;
  for (std::size_t at = 0; (at = page.find("</script", at)) != std::string::npos; ++at) ++ends;
  EXPECT_EQ(ends, 2U);
  for (const char* const mark : {"http://", "https://", "@DATA@", "@SCRIPT@", "@STYLE@"}) {
    EXPECT_EQ(page.find(mark), std::string::npos) << mark;
  }
  EXPECT_EQ(valid_utf8(page), page);
}

TEST(Exporters, AnEmptyRecordingIsFine) {
  RecordingBuilder builder;
  builder.epoch(512);
  const Profile profile = profile_of(builder);
  for (const auto format : {ExportFormat::kFirefox, ExportFormat::kPprof, ExportFormat::kSpeedscope,
                            ExportFormat::kFolded, ExportFormat::kCsv, ExportFormat::kHtml}) {
    EXPECT_NO_THROW(exported(profile, format));
  }
  const json firefox = json::parse(unpacked(exported(profile, ExportFormat::kFirefox)));
  EXPECT_EQ(firefox["threads"].size(), 1U);
}

TEST(Exporters, DeepStacksAreShortenedWhereTheyAreWrittenOut) {
  RecordingBuilder builder;
  builder.epoch(64);
  std::uint32_t node = 0;
  const auto function = builder.function("recurse", "deep.lang", 1);
  for (std::uint32_t i = 0; i < 100'000; ++i) {
    node = builder.node(node, NodeKind::kEmbedded, function);
  }
  for (std::uint32_t i = 1; i <= 100; ++i) builder.sample(1, i, {i, node - i, 64});
  const Profile profile = profile_of(builder);
  const double total = total_of(profile).allocated.bytes();
  const std::string folded = exported(profile, ExportFormat::kFolded);
  EXPECT_EQ(folded_sum(folded), total);
  EXPECT_LT(folded.size(), 2'000'000U);
  EXPECT_NE(folded.find("frames left out"), std::string::npos);
  EXPECT_LT(exported(profile, ExportFormat::kSpeedscope).size(), 4'000'000U);
  EXPECT_EQ(static_cast<double>(pprof_sums(exported(profile, ExportFormat::kPprof)).values[1]),
            total);
  const json firefox = json::parse(unpacked(exported(profile, ExportFormat::kFirefox)));
  EXPECT_GT(firefox["shared"]["stackTable"]["length"], 100'000);
  EXPECT_EQ(sum_of(page_data(exported(profile, ExportFormat::kHtml))["rows"]["a"]), total);
}

TEST(Exporters, GoReadsPprof) {
  if (std::system("go version >/dev/null 2>&1") != 0) {  // NOLINT: a test's own command
    GTEST_SKIP() << "go is not installed (package golang-go)";
  }
  const Profile profile = compiler_profile(2000);
  const test::TemporaryDirectory folder;
  folder.write("p.pb.gz", exported(profile, ExportFormat::kPprof));
  const std::string command = "HOME=" + folder.path() + " timeout 100 go tool pprof -raw " +
                              folder.file("p.pb.gz") + " >" + folder.file("raw") + " 2>&1";
  ASSERT_EQ(std::system(command.c_str()), 0) << test::read_file(folder.file("raw"));  // NOLINT
  const std::string raw = test::read_file(folder.file("raw"));
  EXPECT_NE(raw.find("alloc_objects/count alloc_space/bytes inuse_objects/count inuse_space/bytes"),
            std::string::npos)
      << raw.substr(0, 500);
  EXPECT_NE(raw.find("flush;all"), std::string::npos);
}

TEST(Exporters, FormatsByTheEndOfTheName) {
  EXPECT_EQ(export_format_of("a.json.gz"), ExportFormat::kFirefox);
  EXPECT_EQ(export_format_of("a.pb.gz"), ExportFormat::kPprof);
  EXPECT_EQ(export_format_of("a.speedscope.json"), ExportFormat::kSpeedscope);
  EXPECT_EQ(export_format_of("a.folded"), ExportFormat::kFolded);
  EXPECT_EQ(export_format_of("a.csv"), ExportFormat::kCsv);
  EXPECT_EQ(export_format_of("a.html"), ExportFormat::kHtml);
  EXPECT_EQ(export_format_of("a.json"), std::nullopt);
  EXPECT_EQ(export_format_of(""), std::nullopt);
}

TEST(FileSink, AppearsWhenItIsComplete) {
  const test::TemporaryDirectory folder;
  folder.write("x", "before");
  {
    FileSink sink(folder.file("x"));
    sink.write("half of it");
  }
  EXPECT_EQ(test::read_file(folder.file("x")), "before");
  FileSink sink(folder.file("x"));
  sink.write("all of it");
  sink.finish();
  EXPECT_EQ(test::read_file(folder.file("x")), "all of it");
  EXPECT_THROW(FileSink("/no/such/folder/x"), std::system_error);
  EXPECT_THROW(
      {
        FileSink full("/dev/full");
        full.write(std::string(1 << 20, 'x'));
        full.finish();
      },
      std::system_error);
}

TEST(CleanText, EveryByteSequenceBecomesUtf8) {
  EXPECT_EQ(valid_utf8("a\xC3\xA4\xE2\x82\xAC\xF0\x9F\x8C\xBE"),
            "a\xC3\xA4\xE2\x82\xAC\xF0\x9F\x8C\xBE");
  EXPECT_EQ(valid_utf8("\xFF"), "\xEF\xBF\xBD");
  EXPECT_EQ(valid_utf8("\xE2\x82"), "\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(valid_utf8("\xED\xA0\x80").size(), 9U);  // half of a surrogate pair
  EXPECT_EQ(valid_utf8("\xC0\xAF").size(), 6U);      // overlong
  EXPECT_EQ(valid_utf8("\xF5\x80\x80\x80").size(), 12U);
  EXPECT_EQ(one_line("a\nb\0c"), "a b");
  EXPECT_EQ(one_line(std::string_view("a\0b\x1B[2J", 7)), "a b [2J");
}

}  // namespace
}  // namespace fallow::profile
