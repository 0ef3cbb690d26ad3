#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "fallow/heap.h"
#include "fallow/mutator.h"
#include "tools/fallow/comparison.h"
#include "tools/fallow/demo_command.h"
#include "tools/fallow/exit_codes.h"

namespace fallow::tool {
namespace {

class DemoComparison : public ::testing::Test {
 protected:
  Comparison compare() const {
    Comparison comparison;
    compare_indexes(managed_, standard_, comparison);
    return comparison;
  }
  static bool mentions(const Comparison& comparison, const std::string& text) {
    return std::any_of(
        comparison.differences.begin(), comparison.differences.end(),
        [&](const std::string& sentence) { return sentence.find(text) != std::string::npos; });
  }

  Heap heap_;
  Mutator mutator_{heap_};
  ManagedIndex managed_{mutator_};
  StandardIndex standard_;
};

TEST_F(DemoComparison, EqualIndexesAreIdentical) {
  managed_.add_file("one", "some words and more words");
  standard_.add_file("one", "some words and more words");
  const Comparison comparison = compare();
  EXPECT_TRUE(comparison.identical());
  EXPECT_EQ(comparison.files, 1U);
  EXPECT_EQ(comparison.words, 4U);
  EXPECT_EQ(comparison.postings, 4U);
}

TEST_F(DemoComparison, FindsAWordThatOneOfThemLacks) {
  managed_.add_file("one", "apple banana");
  standard_.add_file("one", "banana cherry");
  const Comparison comparison = compare();
  EXPECT_EQ(comparison.difference_count, 2U);
  EXPECT_TRUE(mentions(comparison, "\"apple\" is missing in the standard index"));
  EXPECT_TRUE(mentions(comparison, "\"cherry\" is missing in the managed index"));
}

TEST_F(DemoComparison, FindsADifferentCount) {
  managed_.add_file("one", "apple apple banana");
  standard_.add_file("one", "apple banana banana");
  const Comparison comparison = compare();
  EXPECT_TRUE(mentions(comparison, "\"apple\" occurs 2 times in the managed index, 1 times"));
  EXPECT_TRUE(mentions(comparison, "2 times in file 0 in the managed index, 1 times in file 0"));
}

TEST_F(DemoComparison, FindsAPostingOfAnotherFile) {
  managed_.add_file("one", "apple");
  managed_.add_file("two", "");
  standard_.add_file("one", "");
  standard_.add_file("two", "apple");
  const Comparison comparison = compare();
  EXPECT_TRUE(mentions(comparison, "1 times in file 0 in the managed index, 1 times in file 1"));
  EXPECT_TRUE(mentions(comparison, "table of files"));
}

TEST_F(DemoComparison, KeepsTheFirstDifferencesAndCountsAll) {
  std::string text;
  for (int i = 100; i < 200; ++i) text += "w" + std::to_string(i) + " ";
  managed_.add_file("one", text);
  standard_.add_file("one", "");
  const Comparison comparison = compare();
  EXPECT_GE(comparison.difference_count, 100U);
  EXPECT_LE(comparison.differences.size(), 20U);
}

TEST_F(DemoComparison, FindsDifferentAnswers) {
  Comparison comparison;
  const std::vector<Answer> answers = {{"first", {{"a", 1, 1}}}, {"second", {{"b", 2, 1}}}};
  compare_answers(answers, answers, comparison);
  EXPECT_TRUE(comparison.identical());
  EXPECT_EQ(comparison.answers, 2U);

  std::vector<Answer> other = answers;
  other[1].items[0].occurrences = 3;
  compare_answers(answers, other, comparison);
  EXPECT_TRUE(mentions(comparison, "second: item 0: \"b\" (2 times, 1 files) in the managed"));

  other = answers;
  other[0].question = "third";
  other.pop_back();
  Comparison third;
  compare_answers(answers, other, third);
  EXPECT_EQ(third.difference_count, 2U);
}

TEST_F(DemoComparison, ADifferenceIsAFailure) {
  Measurement measurement;
  EXPECT_EQ(exit_code_of(measurement), kExitOk);
  measurement.comparison.add_difference("something");
  EXPECT_EQ(exit_code_of(measurement), kExitFailed);
  Measurement damaged;
  damaged.verification.complaints.emplace_back("something");
  EXPECT_EQ(exit_code_of(damaged), kExitFailed);
}

}  // namespace
}  // namespace fallow::tool
