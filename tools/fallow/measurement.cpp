#include "tools/fallow/measurement.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "fallow/heap.h"
#include "fallow/mutator.h"
#include "platform/clock.h"
#include "platform/resident.h"

namespace fallow::tool {
namespace {

class Stopwatch {
 public:
  [[nodiscard]] Duration elapsed() const {
    return {static_cast<double>(platform::monotonic_ns() - wall_) * 1e-9,
            static_cast<double>(platform::process_cpu_ns() - cpu_) * 1e-9};
  }

 private:
  std::uint64_t wall_ = platform::monotonic_ns();
  std::uint64_t cpu_ = platform::process_cpu_ns();
};

// How far resident memory rises from now on.
class PeakGrowth {
 public:
  PeakGrowth() : is_known_(platform::reset_peak_resident()), before_(platform::resident_bytes()) {}
  [[nodiscard]] bool is_known() const { return is_known_; }
  [[nodiscard]] std::uint64_t bytes() const {
    const std::uint64_t peak = platform::peak_resident_bytes();
    return is_known_ && peak > before_ ? peak - before_ : 0;
  }

 private:
  bool is_known_;
  std::uint64_t before_;
};

// A heap with the index in it. The order of the members is that of their construction.
struct Managed {
  explicit Managed(const HeapOptions& options)
      : heap(options), mutator(heap, "demo"), index(mutator) {}
  Heap heap;
  Mutator mutator;
  ManagedIndex index;
};

class Run {
 public:
  Run(const TextFiles& texts, const MeasurementOptions& options, Progress& progress)
      : texts_(texts), options_(options), progress_(progress) {}

  Measurement measure() {
    for (round_ = 1; round_ <= options_.rounds; ++round_) result_.rounds.push_back(one_round());
    return std::move(result_);
  }

 private:
  Round one_round() {
    Round round;
    std::unique_ptr<Managed> managed;
    const std::vector<Answer> answers = measure_index("fallow", round.managed, [&]() -> WordIndex& {
      managed = std::make_unique<Managed>(options_.heap);
      return managed->index;
    });
    round.heap = managed->heap.statistics();
    result_.nursery_bytes = round.heap.nursery;

    std::unique_ptr<StandardIndex> standard;
    const std::vector<Answer> expected =
        measure_index("standard containers", round.standard, [&]() -> WordIndex& {
          standard = std::make_unique<StandardIndex>();
          return *standard;
        });

    result_.words = standard->words();
    result_.distinct_words = standard->distinct_words();
    result_.answers = expected;
    compare_indexes(managed->index, *standard, result_.comparison);
    compare_answers(answers, expected, result_.comparison);
    if (options_.verify && round_ == options_.rounds) verify(managed->heap);

    round.managed.release = release(managed);
    round.standard.release = release(standard);
    return round;
  }

  template <class Create>
  std::vector<Answer> measure_index(const char* name, Costs& costs, const Create& create) {
    const std::string label =
        options_.rounds == 1 ? name : fmt::format("{} {}/{}", name, round_, options_.rounds);
    const PeakGrowth growth;
    result_.has_peaks = growth.is_known();
    const Stopwatch build;
    WordIndex& index = create();
    std::uint64_t done = 0;
    for (const TextFile& file : texts_.files) {
      index.add_file(file.path, file.text);
      done += file.text.size();
      progress_.show(label, done, texts_.bytes);
    }
    costs.build = build.elapsed();
    const Stopwatch queries;
    std::vector<Answer> answers = ask_everything(index);
    costs.queries = queries.elapsed();
    costs.peak_growth_bytes = growth.bytes();
    return answers;
  }

  void verify(Heap& heap) {
    const VerifyReport report = heap.verify();
    result_.verified = true;
    result_.verification = {report.objects, report.bytes, report.complaints};
  }

  template <class Owner>
  static Duration release(std::unique_ptr<Owner>& owner) {
    const Stopwatch watch;
    owner.reset();
    return watch.elapsed();
  }

  const TextFiles& texts_;
  const MeasurementOptions& options_;
  Progress& progress_;
  std::uint32_t round_ = 1;
  Measurement result_;
};

}  // namespace

Measurement measure(const TextFiles& texts, const MeasurementOptions& options, Progress& progress) {
  return Run(texts, options, progress).measure();
}

}  // namespace fallow::tool
