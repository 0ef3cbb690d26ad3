// Heaps that are recorded: which ones, and what of them.
#include <atomic>
#include <thread>

#include "fallow/field.h"
#include "fallow/heap.h"
#include "fallow/local.h"
#include "fallow/make.h"
#include "tests/profile/record/record_support.h"

namespace fallow::test {
namespace {

using profile::Recorder;
using profile::RecorderOptions;

struct Link : Object {
  Field<Link> next;
  std::int64_t value = 0;
  using Fields = FieldList<&Link::next>;
};

class RecordedHeap : public RecordTest {
 protected:
  [[nodiscard]] RecorderOptions all(std::size_t interval = 256) const {
    RecorderOptions given = options(interval);
    given.all_heaps = true;
    return given;
  }
  static HeapOptions small() {
    HeapOptions options;
    options.nursery_bytes = 256 * kKiB;
    return options;
  }
};

void allocate(Mutator& mutator, int kept, int dropped) {
  Local<Link> list(mutator);
  for (int i = 0; i < kept; ++i) {
    const Local<Link> link(mutator, make<Link>(mutator));
    link->next = list.get();
    list = link.get();
    for (int j = 0; j < dropped; ++j) make<Link>(mutator);
  }
}

TEST_F(RecordedHeap, HasTypesFatesAndPauses) {
  Heap heap(small());
  Recorder recorder(all());
  recorder.start();
  {
    Mutator mutator(heap, "test");
    allocate(mutator, 2000, 9);
  }
  heap.collect();
  recorder.stop();
  const profile::Recording recording = read_sound(path());
  ASSERT_GT(recording.samples.size(), 1000U);
  std::size_t died = 0;
  std::size_t survived = 0;
  std::size_t old = 0;
  for (const profile::FateRecord& fate : recording.fates) {
    using Kind = profile::FateRecord::Kind;
    died += fate.kind == Kind::kDiedYoung ? 1 : 0;
    survived += fate.kind == Kind::kTenured ? 1 : 0;
    old += fate.kind == Kind::kDiedOld ? 1 : 0;
    if (fate.type != 0) {
      const auto& name = recording.text(recording.definitions.types[fate.type]);
      EXPECT_NE(name.find("Link"), std::string::npos);
    }
  }
  EXPECT_GT(died, 700U);
  EXPECT_GT(survived, 30U);
  EXPECT_EQ(died + survived, recording.samples.size());
  EXPECT_EQ(old, survived) << "the list is dead at the full collection";
  std::size_t minors = 0;
  std::size_t fulls = 0;
  for (const profile::Pause& pause : recording.pauses) {
    minors += pause.kind == profile::PauseKind::kMinor ? 1 : 0;
    fulls += pause.kind == profile::PauseKind::kFull ? 1 : 0;
    EXPECT_EQ(pause.heap, recording.pauses[0].heap);
  }
  EXPECT_EQ(minors, heap.statistics().minor_collections);
  EXPECT_GE(fulls, 1U);
}

TEST_F(RecordedHeap, ThatComesLaterIsRecordedToo) {
  Recorder recorder(all());
  recorder.start();
  for (int i = 0; i < 3; ++i) {
    Heap heap(small());
    Mutator mutator(heap, "test");
    allocate(mutator, 100, 9);
  }
  Heap heap(small());
  recorder.stop();
  {
    Mutator mutator(heap, "test");
    allocate(mutator, 100, 9);
  }
  const profile::Recording recording = read_sound(path());
  EXPECT_GT(recording.samples.size(), 150U);
  EXPECT_LT(recording.samples.size(), 600U);
}

TEST_F(RecordedHeap, IsLeftAloneUnlessAttached) {
  RecorderOptions given = all(1);
  given.all_heaps = false;
  Heap alone(small());
  Heap attached(small());
  Recorder recorder(given);
  EXPECT_THROW(recorder.attach(attached), UsageError) << "nothing is recorded";
  recorder.start();
  recorder.attach(attached);
  recorder.attach(attached);  // is attached already
  Mutator first(alone, "alone");
  Mutator second(attached, "attached");
  allocate(first, 10, 0);
  EXPECT_EQ(recorder.status().samples, 0U);
  allocate(second, 10, 0);
  EXPECT_EQ(recorder.status().samples, 10U);
  recorder.detach(attached);
  allocate(second, 10, 0);
  EXPECT_EQ(recorder.status().samples, 10U);
}

TEST_F(RecordedHeap, ThreadsAllocateWhileItIsRecordedAgainAndAgain) {
  RecorderOptions given = all();
  given.overwrite = true;
  Heap heap(small());
  std::atomic<bool> leave{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&] {
      Mutator mutator(heap, "worker");
      while (!leave.load()) allocate(mutator, 10, 9);
    });
  }
  Recorder recorder(given);
  for (int round = 0; round < 10; ++round) {
    recorder.start();
    heap.collect();
    recorder.flush();
    recorder.stop();
    read_sound(path());
  }
  leave.store(true);
  for (std::thread& thread : threads) thread.join();
}

TEST_F(RecordedHeap, MutatorThreadsMayStartAndStopAtTheSameTime) {
  RecorderOptions given = all();
  given.overwrite = true;
  Heap heap(small());
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&, i] {
      Mutator mutator(heap, "worker");
      RecorderOptions own = given;
      own.file += std::to_string(i);
      Recorder recorder(own);
      for (int round = 0; round < 10; ++round) {
        try {
          recorder.start();
        } catch (const UsageError&) {
          continue;  // another one's runs
        }
        allocate(mutator, 100, 9);
        recorder.stop();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace fallow::test
