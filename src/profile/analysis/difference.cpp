#include "profile/analysis/difference.h"

#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace fallow::profile {
namespace {

// What stands for the stack of each vertex: equal for equal names.
std::vector<std::uint64_t> stack_names(const CallTree& tree) {
  std::vector<std::uint64_t> hashes(tree.vertices.size());
  for (std::size_t i = 1; i < hashes.size(); ++i) {
    const std::string& name = tree.name(tree.vertices[i].frame);
    hashes[i] = XXH3_64bits_withSeed(name.data(), name.size(),
                                     hashes[tree.vertices[i].parent] + tree.vertices[i].depth);
  }
  return hashes;
}

class Comparing {
 public:
  explicit Comparing(CompareBy by) : by_(by) {}

  void add(const Profile& profile, bool is_after) {
    const std::vector<std::uint64_t> stacks = stack_names(profile.tree);
    for (const Site& site : sites_of(profile)) {
      const std::string& type = profile.type_name(site.type);
      const std::uint64_t key = XXH3_64bits_withSeed(type.data(), type.size(), stacks[site.vertex]);
      Change& change = changes_[key];
      change.vertex = site.vertex;
      change.type = type;
      change.in_after = is_after;
      const Tally& tally = by_ == CompareBy::kLive ? site.bytes.live : site.bytes.allocated;
      Tally& side = is_after ? change.after : change.before;
      side.merge(tally);
      (is_after ? difference_.total.after : difference_.total.before).merge(tally);
    }
    (is_after ? after_interval_ : before_interval_) = profile.interval_bytes();
  }

  Difference finish() {
    judge(difference_.total);
    for (auto& [key, change] : changes_) {
      judge(change);
      difference_.sites.push_back(std::move(change));
    }
    std::sort(difference_.sites.begin(), difference_.sites.end(),
              [](const Change& a, const Change& b) {
                if (a.significant() != b.significant()) return a.significant();
                return std::abs(a.bytes()) > std::abs(b.bytes());
              });
    return std::move(difference_);
  }

 private:
  void judge(Change& change) const {
    change.range =
        difference_interval(change.before, change.after, before_interval_, after_interval_);
  }

  CompareBy by_;
  std::uint64_t before_interval_ = 1;
  std::uint64_t after_interval_ = 1;
  std::unordered_map<std::uint64_t, Change> changes_;
  Difference difference_;
};

}  // namespace

Difference difference_of(const Profile& before, const Profile& after, CompareBy by) {
  Comparing comparing(by);
  comparing.add(before, false);
  comparing.add(after, true);
  return comparing.finish();
}

}  // namespace fallow::profile
