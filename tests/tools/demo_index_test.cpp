#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "fallow/errors.h"
#include "fallow/heap.h"
#include "fallow/mutator.h"
#include "tools/fallow/comparison.h"
#include "tools/fallow/managed_index.h"
#include "tools/fallow/queries.h"
#include "tools/fallow/standard_index.h"
#include "tools/generated_texts.h"

namespace fallow::tool {
namespace {

void fill(WordIndex& index, const TextFiles& texts) {
  for (const TextFile& file : texts.files) index.add_file(file.path, file.text);
}

// Builds both, expects that they are the same and that the heap is in order. Returns the figures of
// the time before that check.
HeapStatistics expect_agreement(const HeapOptions& options, const TextFiles& texts) {
  Heap heap(options);
  Mutator mutator(heap);
  ManagedIndex managed(mutator);
  StandardIndex standard;
  fill(managed, texts);
  fill(standard, texts);
  const HeapStatistics statistics = heap.statistics();
  Comparison comparison;
  compare_indexes(managed, standard, comparison);
  compare_answers(ask_everything(managed), ask_everything(standard), comparison);
  EXPECT_TRUE(comparison.identical()) << fmt::format("{}", fmt::join(comparison.differences, "\n"));
  EXPECT_EQ(comparison.words, standard.distinct_words());
  EXPECT_EQ(comparison.files, texts.files.size());
  EXPECT_GT(comparison.postings, 0U);

  heap.collect();
  const VerifyReport report = heap.verify();
  EXPECT_TRUE(report.complaints.empty()) << fmt::format("{}", fmt::join(report.complaints, "\n"));
  Comparison again;
  compare_indexes(managed, standard, again);
  EXPECT_TRUE(again.identical()) << "after a full collection";
  return statistics;
}

TEST(DemoIndex, AgreesWithDefaultOptions) {
  expect_agreement(HeapOptions::from_environment(), generate_texts(40, 1500, 20'000));
}

TEST(DemoIndex, AgreesWithATinyNursery) {
  HeapOptions options;
  options.nursery_bytes = 4096;
  const HeapStatistics statistics = expect_agreement(options, generate_texts(30, 1000, 10'000));
  EXPECT_GT(statistics.minor_collections, 100U);
}

TEST(DemoIndex, AgreesAfterFullCollections) {
  HeapOptions options;
  options.nursery_bytes = std::size_t{16} << 10;
  options.growth_factor = 1.1;
  options.growth_floor_bytes = std::size_t{1} << 20;
  options.growth_cap_bytes = std::size_t{1} << 20;
  const HeapStatistics statistics = expect_agreement(options, generate_texts(40, 1500, 60'000));
  EXPECT_GT(statistics.full_collections, 5U);
}

TEST(DemoIndex, AgreesWithACollectionAtEveryAllocation) {
  HeapOptions options;
  options.zeal = 1;
  const HeapStatistics statistics = expect_agreement(options, generate_texts(4, 150, 300));
  EXPECT_GT(statistics.minor_collections, 600U);
}

TEST(DemoIndex, AgreesWithZealAtManySchedules) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    HeapOptions options;
    options.zeal = 7;
    options.zeal_seed = seed;
    options.nursery_bytes = 4096;
    expect_agreement(options, generate_texts(6, 200, 500, static_cast<std::uint32_t>(seed)));
  }
}

TEST(DemoIndex, AgreesWithRotatingNurseries) {
  HeapOptions options;
  options.rotating_nurseries = 3;
  options.nursery_bytes = std::size_t{16} << 10;
  expect_agreement(options, generate_texts(20, 500, 5'000));
}

TEST(DemoIndex, AgreesWithTheVerifierAtEveryCollection) {
  HeapOptions options;
  options.verify = true;
  options.poison = true;
  options.nursery_bytes = std::size_t{32} << 10;
  expect_agreement(options, generate_texts(20, 500, 5'000));
}

TEST(DemoIndex, AgreesWithManyFilesOfOneWord) {
  // Long chains of postings, and a table of files that grows often.
  expect_agreement(HeapOptions::from_environment(), generate_texts(3000, 2, 3));
}

TEST(DemoIndex, AgreesWhenWordsComeInOrder) {
  // The worst case of a search tree that is not balanced.
  TextFiles texts;
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += fmt::format("w{:06} ", i);
  texts.files.push_back({"ascending", text});
  HeapOptions options;
  options.nursery_bytes = std::size_t{256} << 10;
  expect_agreement(options, texts);
}

// Both implementations against results that were worked out by hand.
template <class Check>
void check_both(const Check& check) {
  const auto add = [](WordIndex& index) {
    index.add_file("one", "The cat saw the cart. The END");
    index.add_file("two", "cat cat dog");
    index.add_file("none", "");
    index.add_file("three", "Dog, carton, the");
  };
  {
    SCOPED_TRACE("standard");
    StandardIndex standard;
    add(standard);
    check(standard);
  }
  SCOPED_TRACE("managed");
  Heap heap;
  Mutator mutator(heap);
  ManagedIndex managed(mutator);
  add(managed);
  check(managed);
}

TEST(DemoIndex, CountsWordsAndFiles) {
  check_both([](const WordIndex& index) {
    EXPECT_EQ(index.words(), 13U);
    EXPECT_EQ(index.distinct_words(), 7U);
    EXPECT_EQ(index.files(),
              (std::vector<FileWords>{{"one", 7}, {"two", 3}, {"none", 0}, {"three", 3}}));
  });
}

TEST(DemoIndex, FindsTheMostFrequentWords) {
  check_both([](const WordIndex& index) {
    EXPECT_EQ(index.top_words(3),
              (std::vector<WordCount>{{"the", 4, 2}, {"cat", 3, 2}, {"dog", 2, 2}}));
    EXPECT_EQ(index.top_words(0).size(), 0U);
    // Words with one occurrence follow the alphabet.
    const std::vector<WordCount> all = index.top_words(100);
    ASSERT_EQ(all.size(), 7U);
    EXPECT_EQ(all[3].word, "cart");
    EXPECT_EQ(all[6].word, "saw");
  });
}

TEST(DemoIndex, FindsPrefixes) {
  check_both([](const WordIndex& index) {
    EXPECT_EQ(index.words_with_prefix("ca", 10),
              (std::vector<WordCount>{{"cart", 1, 1}, {"carton", 1, 1}, {"cat", 3, 2}}));
    EXPECT_EQ(index.words_with_prefix("ca", 1), (std::vector<WordCount>{{"cart", 1, 1}}));
    EXPECT_EQ(index.words_with_prefix("ca", 0).size(), 0U);
    EXPECT_EQ(index.words_with_prefix("", 100).size(), 7U);
    EXPECT_EQ(index.words_with_prefix("zz", 10).size(), 0U);
    EXPECT_EQ(index.top_word_with_prefix("c"), (WordCount{"cat", 3, 2}));
    EXPECT_EQ(index.top_word_with_prefix("car"), (WordCount{"cart", 1, 1}));
    EXPECT_EQ(index.top_word_with_prefix("x"), std::nullopt);
  });
}

TEST(DemoIndex, FindsFilesWithBothWords) {
  check_both([](const WordIndex& index) {
    EXPECT_EQ(index.files_with_both("cat", "the"), (std::vector<FileWithBoth>{{"one", 4}}));
    EXPECT_EQ(index.files_with_both("the", "dog"), (std::vector<FileWithBoth>{{"three", 2}}));
    EXPECT_EQ(index.files_with_both("cat", "carton").size(), 0U);
    EXPECT_EQ(index.files_with_both("cat", "unknown").size(), 0U);
    EXPECT_EQ(index.files_with_both("dog", "dog"),
              (std::vector<FileWithBoth>{{"two", 2}, {"three", 2}}));
  });
}

TEST(DemoIndex, AnEmptyIndexAnswers) {
  Heap heap;
  Mutator mutator(heap);
  const ManagedIndex managed(mutator);
  const StandardIndex standard;
  EXPECT_EQ(ask_everything(managed), ask_everything(standard));
  EXPECT_EQ(managed.distinct_words(), 0U);
  EXPECT_EQ(managed.words_with_prefix("", 5).size(), 0U);
}

TEST(DemoIndex, OutOfMemoryLeavesAHeapInOrder) {
  HeapOptions options;
  options.nursery_bytes = std::size_t{64} << 10;
  options.hard_limit_bytes = std::size_t{16} << 20;
  Heap heap(options);
  Mutator mutator(heap);
  ManagedIndex managed(mutator);
  const TextFiles texts = generate_texts(60, 20'000, 4'000'000);
  EXPECT_THROW(fill(managed, texts), OutOfMemory);
  EXPECT_TRUE(heap.verify().complaints.empty());
  EXPECT_EQ(managed.words_with_prefix("", 3).size(), 3U);
}

}  // namespace
}  // namespace fallow::tool
