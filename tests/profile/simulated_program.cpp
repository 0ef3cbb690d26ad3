#include "tests/profile/simulated_program.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace fallow::test {

// One recording in the making.
class SimulatedProgram::Run {
 public:
  Run(const std::vector<SimulatedSite>& sites, std::vector<SimulatedTruth>& truth,
      const SimulationOptions& options, RecordingBuilder& builder)
      : sites_(sites), truth_(truth), options_(options), builder_(builder), random_(options.seed) {
    builder_.epoch(options.interval_bytes);
    builder_.thread(1, 1234, "main");
    std::map<std::pair<std::uint32_t, std::string>, std::uint32_t> known;
    std::map<std::string, std::uint32_t> types;
    double sum = 0;
    for (const SimulatedSite& site : sites) {
      std::uint32_t node = 0;
      for (const std::string& name : site.stack) {
        std::uint32_t& child = known[{node, name}];
        if (child == 0) child = builder_.frame(node, name);
        node = child;
      }
      nodes_.push_back(node);
      std::uint32_t& type = types[site.type];
      if (type == 0) type = builder_.type(site.type);
      types_.push_back(type);
      shares_.push_back(sum += site.share);
    }
    end_ns_ = static_cast<std::int64_t>(options.seconds * 1e9);
  }

  void run() {
    for (std::uint64_t i = 0; i < options_.objects; ++i) {
      now_ns_ =
          static_cast<std::int64_t>(static_cast<double>(end_ns_) * static_cast<double>(i + 1) /
                                    static_cast<double>(options_.objects + 1));
      allocate(random_site());
      const std::uint64_t due = (i + 1) * options_.minor_collections / options_.objects;
      if (due > minors_) collect(due);
    }
    bury(end_ns_);
    std::vector<BuiltFate> still_young;
    for (const Young& young : young_) {
      still_young.push_back({1, young.sequence, types_[young.site], Outcome::kStillYoung});
    }
    builder_.minor(end_ns_, minors_ + 1, still_young);
    builder_.end(end_ns_, profile::EndReason::kExit);
  }

 private:
  using Outcome = profile::SettledOutcome;
  struct Young {
    std::size_t site;
    std::uint64_t sequence;  // 0: no sample
  };
  struct Old {
    std::size_t site;
    std::int64_t dies_ns;
    std::uint64_t sequence;
  };

  double uniform() { return platform::unit_interval(random_.next()); }

  std::size_t random_site() {
    const double at = uniform() * shares_.back();
    return static_cast<std::size_t>(std::upper_bound(shares_.begin(), shares_.end(), at) -
                                    shares_.begin());
  }

  void allocate(std::size_t site) {
    const std::uint64_t bytes = sites_[site].bytes;
    truth_[site].allocated += static_cast<double>(bytes);
    truth_[site].live += static_cast<double>(bytes);
    ++truth_[site].objects;
    used_ += bytes;
    const double p =
        1 - std::exp(-static_cast<double>(bytes) / static_cast<double>(options_.interval_bytes));
    std::uint64_t sequence = 0;
    if (uniform() < p) {
      sequence = ++sequence_;
      builder_.sample(1, now_ns_, {sequence, nodes_[site], bytes, 1, 0, 0});
    }
    young_.push_back({site, sequence});
  }

  void collect(std::uint64_t number) {
    minors_ = number;
    std::vector<BuiltFate> fates;
    std::uint64_t survived = 0;
    const std::uint64_t before = used_;
    for (const Young& young : young_) {
      const SimulatedSite& site = sites_[young.site];
      const bool survives = uniform() < site.survives;
      if (young.sequence != 0) {
        fates.push_back({1, young.sequence, types_[young.site],
                         survives ? Outcome::kSurvived : Outcome::kDied});
      }
      if (survives) {
        survived += site.bytes;
        promote(young, site);
      } else {
        die(young.site);
        truth_[young.site].died_young += static_cast<double>(site.bytes);
      }
    }
    young_.clear();
    builder_.minor(now_ns_, number, fates);
    const std::uint64_t wall_ns =
        200'000 + survived / 2 + static_cast<std::uint64_t>(uniform() * 1e5);
    builder_.pause(now_ns_, {profile::PauseKind::kMinor, wall_ns, number, before, survived});
    if (number % 5 == 0) {
      builder_.pause(now_ns_ + 2'000'000,
                     {profile::PauseKind::kStep, 600'000, number / 20, used_, used_});
      bury(now_ns_);
    }
    builder_.level(now_ns_, 1, used_, used_ * 2, 0);
    builder_.level(now_ns_, 0, used_, used_ * 2, used_ * 2 + (20 << 20));
  }

  void promote(const Young& young, const SimulatedSite& site) {
    std::int64_t dies_ns = end_ns_ + 1;
    if (site.half_life_s > 0) {
      dies_ns =
          now_ns_ - static_cast<std::int64_t>(std::log2(1 - uniform()) * site.half_life_s * 1e9);
    }
    old_.push_back({young.site, dies_ns, young.sequence});
  }

  void die(std::size_t site) {
    truth_[site].live -= static_cast<double>(sites_[site].bytes);
    used_ -= sites_[site].bytes;
  }

  // Old objects whose time has come.
  void bury(std::int64_t until_ns) {
    std::vector<std::pair<std::uint32_t, std::uint64_t>> dead;
    std::erase_if(old_, [&](const Old& old) {
      if (old.dies_ns > until_ns) return false;
      die(old.site);
      if (old.sequence != 0) dead.emplace_back(1, old.sequence);
      return true;
    });
    builder_.died(until_ns, minors_ / 20 + 1, dead);
  }

  const std::vector<SimulatedSite>& sites_;
  std::vector<SimulatedTruth>& truth_;
  const SimulationOptions& options_;
  RecordingBuilder& builder_;
  platform::SplitMix64 random_;
  std::vector<std::uint32_t> nodes_;
  std::vector<std::uint32_t> types_;
  std::vector<double> shares_;
  std::vector<Young> young_;
  std::vector<Old> old_;
  std::int64_t now_ns_ = 0;
  std::int64_t end_ns_ = 0;
  std::uint64_t used_ = 0;
  std::uint64_t minors_ = 0;
  std::uint64_t sequence_ = 0;
};

SimulatedProgram::SimulatedProgram(std::vector<SimulatedSite> sites) : sites_(std::move(sites)) {}

void SimulatedProgram::record(const SimulationOptions& options, RecordingBuilder& builder) {
  truth_.assign(sites_.size(), {});
  Run(sites_, truth_, options, builder).run();
}

SimulatedProgram simulated_compiler() {
  const std::string html = "render</script><b>\"quoted\"; name\nof \xFF two lines";
  return SimulatedProgram({
      {"Token", {"main", "compile(Unit&)", "Lexer::next()"}, 48, 40, 0.01, 0.2},
      {"std::string",
       {"main", "compile(Unit&)", "Lexer::next()", "Lexer::text()"},
       64,
       25,
       0.02,
       0.2},
      {"Node",
       {"main", "compile(Unit&)", "Parser::expression()", "Parser::term()"},
       96,
       12,
       0.3,
       1.5},
      {"Node", {"main", "compile(Unit&)", "Parser::statement()"}, 96, 8, 0.3, 1.5},
      {"Array<Node>", {"main", "compile(Unit&)", "Parser::statement()", "grow"}, 1024, 1, 0.3, 1.5},
      {"CacheEntry", {"main", "compile(Unit&)", "Cache::insert(Key const&)"}, 256, 3, 0.9, 4},
      {"Diagnostic", {"main", "compile(Unit&)", "report"}, 160, 1, 1, 0},
      {std::string("T\0ype<\xF0\x28>", 9), {"main", "output", html}, 4096, 0.5, 0.05, 0.5},
      {"Buffer", {"main", "output", "write", "flush;all"}, 1 << 18, 0.02, 0.5, 0.5},
  });
}

}  // namespace fallow::test
