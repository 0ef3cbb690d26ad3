#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "platform/child_process.h"
#include "platform/temporary_directory.h"
#include "tools/fallow/text_files.h"

namespace fallow::tool {
namespace {

namespace fs = std::filesystem;
using test::TemporaryDirectory;

TextFiles read_below(const TemporaryDirectory& directory, const ReadOptions& options = {}) {
  return read_text_files({directory.path()}, options);
}

std::vector<std::string> names_in(const TextFiles& found, const TemporaryDirectory& directory) {
  std::vector<std::string> names;
  for (const TextFile& file : found.files) {
    names.push_back(file.path.substr(directory.path().size() + 1));
  }
  return names;
}

using Names = std::vector<std::string>;

TEST(IsText, AcceptsUtf8) {
  EXPECT_TRUE(is_text("plain"));
  EXPECT_TRUE(is_text("gr\xC3\xBC\xC3\x9F \xE2\x82\xAC \xF0\x9F\x8D\x82 and more plain text"));
  EXPECT_TRUE(is_text("\xEF\xBB\xBFwith a byte order mark"));
  EXPECT_TRUE(is_text("\xED\x9F\xBF\xEE\x80\x80\xF4\x8F\xBF\xBF"));  // at the edges of ranges
}

TEST(IsText, RejectsWhatIsNotUtf8) {
  for (const char* const bad : {"\x80", "abc\xFF", "latin-1: caf\xE9 au lait", "\xC3", "\xE2\x82",
                                "\xF0\x9F\x8D", "\xC0\xAF", "\xC1\xBF",  // overlong
                                "\xE0\x9F\xBF", "\xF0\x8F\xBF\xBF",
                                "\xED\xA0\x80",                          // a surrogate
                                "\xF4\x90\x80\x80", "\xF5\x80\x80\x80",  // above U+10FFFF
                                "\xC3\x28", "\xE2\x28\xA1", "\xF0\x28\x8C\xBC"}) {
    EXPECT_FALSE(is_text(bad)) << bad;
    EXPECT_FALSE(is_text(std::string("sixteen bytes   ") + bad)) << bad;
  }
}

TEST(IsText, ANulMattersInTheFirstEightKibibytes) {
  std::string text(10'000, 'a');
  text[8192] = '\0';
  EXPECT_TRUE(is_text(text));
  text[8191] = '\0';
  EXPECT_FALSE(is_text(text));
}

TEST(TextFiles, ReadsDirectoriesInOrder) {
  const TemporaryDirectory directory;
  directory.write("b.txt", "bee");
  directory.write("a.txt", "ay");
  directory.write("z/1.txt", "one");
  directory.write("c/deep/er/2.txt", "two");
  directory.write("c/3.txt", "three");
  const TextFiles found = read_below(directory);
  EXPECT_EQ(names_in(found, directory),
            (Names{"a.txt", "b.txt", "c/3.txt", "c/deep/er/2.txt", "z/1.txt"}));
  EXPECT_EQ(found.files[1].text, "bee");
  EXPECT_EQ(found.bytes, 2U + 3 + 5 + 3 + 3);
  EXPECT_EQ(found.binary + found.empty + found.unreadable + found.links + found.special, 0U);
}

TEST(TextFiles, AnEmptyDirectoryHasNone) {
  const TemporaryDirectory directory;
  const TextFiles found = read_below(directory);
  EXPECT_TRUE(found.files.empty());
  EXPECT_EQ(found.bytes, 0U);
}

TEST(TextFiles, CountsBinaryAndEmptyFiles) {
  const TemporaryDirectory directory;
  directory.write("text", "words");
  directory.write("empty", "");
  directory.write("nul", std::string("ab\0cd", 5));
  directory.write("latin1", "caf\xE9");
  const TextFiles found = read_below(directory);
  EXPECT_EQ(names_in(found, directory), Names{"text"});
  EXPECT_EQ(found.binary, 2U);
  EXPECT_EQ(found.empty, 1U);
}

TEST(TextFiles, CountsLinksAndDoesNotFollowThem) {
  const TemporaryDirectory directory;
  directory.write("sub/text", "words");
  fs::create_directory_symlink("..", directory.file("sub/loop"));
  fs::create_directory_symlink(directory.path(), directory.file("sub/absolute_loop"));
  fs::create_symlink("text", directory.file("sub/file_link"));
  fs::create_symlink("nowhere", directory.file("dangling"));
  fs::create_symlink("itself", directory.file("itself"));
  const TextFiles found = read_below(directory);
  EXPECT_EQ(names_in(found, directory), Names{"sub/text"});
  EXPECT_EQ(found.links, 5U);
  EXPECT_EQ(found.unreadable, 0U);
}

TEST(TextFiles, TheStartMayBeALink) {
  const TemporaryDirectory directory;
  directory.write("real/text", "words");
  fs::create_directory_symlink("real", directory.file("link"));
  EXPECT_EQ(directory_problem(directory.file("link")), "");
  EXPECT_EQ(read_text_files({directory.file("link")}, {}).files.size(), 1U);
}

TEST(TextFiles, PipesAndSocketsAreCountedAndNotOpened) {
  const TemporaryDirectory directory;
  ASSERT_EQ(mkfifo(directory.file("pipe").c_str(), 0600), 0);
  const int socket_descriptor = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  directory.file("socket").copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(::bind(socket_descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address),
            0);
  directory.write("text", "words");
  const TextFiles found = read_below(directory);
  ::close(socket_descriptor);
  EXPECT_EQ(found.special, 2U);
  EXPECT_EQ(found.files.size(), 1U);
}

TEST(TextFiles, CountsWhatTheSystemRefuses) {
  const TemporaryDirectory directory;
  directory.write("text", "words");
  directory.write("secret", "words");
  directory.write("closed/text", "words");
  fs::permissions(directory.path(), fs::perms(0755));
  fs::permissions(directory.file("secret"), fs::perms::none);
  fs::permissions(directory.file("closed"), fs::perms::none);
  constexpr int kCannotTest = 100;
  const int result = test::run_in_child([&] {
    // Nothing is refused to root.
    if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) return kCannotTest;
    if (access(directory.file("text").c_str(), R_OK) != 0) return kCannotTest;
    const TextFiles found = read_below(directory);
    return found.files.size() == 1 && found.unreadable == 2 ? 0 : 1;
  });
  fs::permissions(directory.file("closed"), fs::perms::owner_all);
  if (result == kCannotTest) GTEST_SKIP() << "cannot become a user to whom files are refused";
  EXPECT_EQ(result, 0);
}

TEST(TextFiles, StaysBelowTheLimit) {
  const TemporaryDirectory directory;
  directory.write("1", std::string(60, 'a'));
  directory.write("2", std::string(60, 'b'));
  directory.write("3", std::string(40, 'c'));
  directory.write("4", "d");
  const TextFiles found =
      read_below(directory, {.max_bytes = 100, .skipped_directories = {}, .progress = {}});
  EXPECT_EQ(names_in(found, directory), (Names{"1", "3"}));
  EXPECT_EQ(found.bytes, 100U);
  EXPECT_EQ(found.beyond_limit, 2U);
}

TEST(TextFiles, SkipsDirectoriesByName) {
  const TemporaryDirectory directory;
  directory.write("a/skipped/text", "words");
  directory.write("a/skipped_not/text", "words");
  directory.write("b/skipped", "a file of that name");
  const TextFiles found = read_below(
      directory, {.max_bytes = 1000, .skipped_directories = {"skipped"}, .progress = {}});
  EXPECT_EQ(names_in(found, directory), (Names{"a/skipped_not/text", "b/skipped"}));
}

TEST(TextFiles, ReportsProgress) {
  const TemporaryDirectory directory;
  directory.write("1", "one");
  directory.write("2", "two");
  std::vector<std::uint64_t> bytes;
  ReadOptions options;
  options.progress = [&bytes](const TextFiles& found) { bytes.push_back(found.bytes); };
  read_below(directory, options);
  EXPECT_EQ(bytes, (std::vector<std::uint64_t>{3, 6}));
}

TEST(TextFiles, ReadsSeveralDirectoriesAndNamesWithAnyBytes) {
  const TemporaryDirectory first;
  const TemporaryDirectory second;
  first.write("new\nline", "words");
  second.write("latin1-\xE9", "words");
  EXPECT_EQ(read_text_files({first.path(), second.path()}, {}).files.size(), 2U);
}

TEST(TextFiles, ReadsDeepTrees) {
  const TemporaryDirectory directory;
  std::string path;
  for (int depth = 0; depth < 100; ++depth) path += "d/";
  directory.write(path + "text", "words");
  EXPECT_EQ(read_below(directory).files.size(), 1U);
}

TEST(TextFiles, NamesTheProblemWithADirectory) {
  const TemporaryDirectory directory;
  directory.write("file", "words");
  EXPECT_EQ(directory_problem(directory.path()), "");
  EXPECT_EQ(directory_problem("/no/such/place"), "'/no/such/place' does not exist");
  EXPECT_NE(directory_problem(directory.file("file")).find("is not a directory"),
            std::string::npos);
  EXPECT_NE(directory_problem(directory.file("file/below")), "");
  fs::create_symlink("itself", directory.file("itself"));
  EXPECT_NE(directory_problem(directory.file("itself")), "");
}

}  // namespace
}  // namespace fallow::tool
