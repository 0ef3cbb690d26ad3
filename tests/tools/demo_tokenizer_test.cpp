#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tools/fallow/tokenizer.h"

namespace fallow::tool {
namespace {

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  const std::uint64_t count =
      for_each_word(text, [&words](std::string_view word) { words.emplace_back(word); });
  EXPECT_EQ(count, words.size());
  return words;
}

using Words = std::vector<std::string>;

TEST(Tokenizer, SplitsAtEverythingButLettersDigitsAndUnderscores) {
  EXPECT_EQ(words_of("def main(argv): return x2+y_3"),
            (Words{"def", "main", "argv", "return", "x2", "y_3"}));
  EXPECT_EQ(words_of("one-two\tthree\r\nfour\"five"),
            (Words{"one", "two", "three", "four", "five"}));
}

TEST(Tokenizer, FindsTheWordsAtBothEnds) {
  EXPECT_EQ(words_of("ab"), Words{"ab"});
  EXPECT_EQ(words_of(" ab "), Words{"ab"});
  EXPECT_EQ(words_of("__init__"), Words{"__init__"});
}

TEST(Tokenizer, NothingGivesNothing) {
  EXPECT_EQ(words_of(""), Words{});
  EXPECT_EQ(words_of(" \n.,;"), Words{});
}

TEST(Tokenizer, LowersAsciiLettersOnly) {
  EXPECT_EQ(words_of("HeLLo AZ az @[`{ 09"), (Words{"hello", "az", "az", "09"}));
}

TEST(Tokenizer, OtherBytesSeparate) {
  EXPECT_EQ(words_of("caf\xC3\xA9s na\xC3\xAFve"), (Words{"caf", "na", "ve"}));
  EXPECT_EQ(words_of(std::string_view("ab\0cd", 5)), (Words{"ab", "cd"}));
  EXPECT_EQ(words_of("\xFF\xFExy\x80"), Words{"xy"});
}

TEST(Tokenizer, PassesOverWordsThatAreTooShortOrTooLong) {
  const std::string longest(kMaxWordLength, 'a');
  EXPECT_EQ(words_of("a bc d"), Words{"bc"});
  EXPECT_EQ(words_of("xy " + longest + " z"), (Words{"xy", longest}));
  EXPECT_EQ(words_of("xy " + longest + "a zz"), (Words{"xy", "zz"}));
  EXPECT_EQ(words_of(std::string(10'000, 'b')), Words{});
  EXPECT_EQ(words_of(std::string(10'000, 'b') + " cc"), Words{"cc"});
}

TEST(Tokenizer, EveryByteIsEitherASeparatorOrItsLowerCase) {
  for (int byte = 0; byte < 256; ++byte) {
    const std::string text(2, static_cast<char>(byte));
    const bool upper = byte >= 'A' && byte <= 'Z';
    const bool word_byte =
        upper || (byte >= 'a' && byte <= 'z') || (byte >= '0' && byte <= '9') || byte == '_';
    const char lower = static_cast<char>(upper ? byte + 32 : byte);
    EXPECT_EQ(words_of(text), word_byte ? Words{std::string(2, lower)} : Words{}) << byte;
  }
}

}  // namespace
}  // namespace fallow::tool
