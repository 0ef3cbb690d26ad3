#include "collection_binding.h"

#include <nanobind/stl/string.h>

#include <array>
#include <string>

#include "binding_names.h"
#include "collection_responder.h"
#include "collection_watch.h"
#include "fallow/error.h"

namespace nb = nanobind;

namespace fallow::python {

namespace {

using Snapshot = telemetry::PauseHistogram::Snapshot;

double seconds(std::uint64_t ns) { return static_cast<double>(ns) * 1e-9; }

/// What came after `before`. Extremes are those of buckets: good to 1/32.
Snapshot difference(const Snapshot& now, const Snapshot& before) {
  Snapshot result;
  result.total_ns = now.total_ns - before.total_ns;
  for (std::size_t i = 0; i < now.buckets.size(); ++i) {
    result.buckets[i] = now.buckets[i] - before.buckets[i];
    if (result.buckets[i] == 0) continue;
    if (result.count == 0) result.min_ns = telemetry::PauseHistogram::bucket_first(i);
    result.max_ns = telemetry::PauseHistogram::bucket_last(i);
    result.count += result.buckets[i];
  }
  return result;
}

nb::dict facts_of(const Snapshot& pauses) {
  nb::dict facts;
  facts["count"] = pauses.count;
  facts["seconds"] = seconds(pauses.total_ns);
  facts["p50"] = seconds(pauses.percentile(0.5));
  facts["p99"] = seconds(pauses.percentile(0.99));
  facts["longest"] = seconds(pauses.max_ns);
  return facts;
}

/// The pauses of all generations since it was made.
class PauseWatch {
 public:
  PauseWatch() {
    if (!CollectionWatch::install()) nb::raise_python_error();
    for (std::size_t i = 0; i < before_.size(); ++i) {
      before_[i] = CollectionWatch::pauses(i).snapshot();
    }
  }
  [[nodiscard]] nb::list by_generation() const {
    nb::list all;
    for (std::size_t i = 0; i < before_.size(); ++i) {
      all.append(facts_of(difference(CollectionWatch::pauses(i).snapshot(), before_[i])));
    }
    return all;
  }

 private:
  std::array<Snapshot, CollectionWatch::kGenerations> before_;
};

nb::dict counts() {
  const CollectionCounts& counts = CollectionResponder::instance()->counts;
  nb::dict facts;
  facts["young"] = counts.young.load();
  facts["full"] = counts.full.load();
  facts["waited"] = counts.waited.load();
  facts["seconds"] = seconds(counts.ns.load());
  return facts;
}

/// One flag of the policy as a property.
template <std::atomic<bool> CollectionPolicy::* Flag>
void bind_flag(nb::class_<CollectionPolicy>& type, const char* name, const char* doc) {
  type.def_prop_rw(
      name, [](const CollectionPolicy& self) { return (self.*Flag).load(); },
      [](CollectionPolicy& self, bool value) { (self.*Flag).store(value); }, doc);
}

void set_budget(CollectionPolicy& self, double budget) {
  constexpr double kMost = 1e9;
  if (!(budget >= 0 && budget <= kMost)) {
    throw OptionError("fallow: the budget of collections must be 0 to 1e9 seconds");
  }
  self.budget_ns = static_cast<std::uint64_t>(budget * 1e9);
}

void bind_policy(nb::module_& module) {
  nb::class_<CollectionPolicy> policy(
      module, "CollectionPolicy", nb::is_final(),
      "What is done under pressure to find device memory in Python's garbage. There is one, for "
      "all\n"
      "devices: fallow.pressure.collection. Changes take effect with the next request.");
  bind_flag<&CollectionPolicy::enabled>(policy, "enabled", "Whether anything is collected.");
  bind_flag<&CollectionPolicy::when_disabled>(
      policy, "when_disabled",
      "Collects although gc.disable() was called. The flag stays as it is.");
  bind_flag<&CollectionPolicy::in_nogc>(policy, "in_nogc",
                                        "Collects although a fallow.gc.nogc() exists.");
  bind_flag<&CollectionPolicy::young_first>(
      policy, "young_first",
      "Collects the young objects first, and all only if that is not enough.");
  bind_flag<&CollectionPolicy::wait>(
      policy, "wait", "Waits for a collection that is under way, and collects then.");
  policy
      .def_prop_rw(
          "budget", [](const CollectionPolicy& self) { return seconds(self.budget_ns); },
          &set_budget,
          "Seconds of full collections for one request after which no further one begins; 0: none.")
      .def(
          "statistics", [](const CollectionPolicy&) { return counts(); },
          "Collections so far, how often others were waited for, and the seconds of all.")
      .def("__repr__", [](const CollectionPolicy& self) {
        return nb::str(
                   "<fallow.pressure.collection enabled={} when_disabled={} in_nogc={} "
                   "young_first={} wait={} budget={}>")
            .attr("format")(self.enabled.load(), self.when_disabled.load(), self.in_nogc.load(),
                            self.young_first.load(), self.wait.load(), seconds(self.budget_ns));
      });
  rename_module(policy, "fallow.pressure");
  module.attr("collection") =
      nb::cast(&CollectionResponder::instance()->policy, nb::rv_policy::reference);
}

}  // namespace

void bind_collections(nb::module_& module) {
  bind_policy(module);
  nb::class_<PauseWatch> watch(module, "PauseWatch", nb::is_final());
  watch.def(nb::init<>()).def("by_generation", &PauseWatch::by_generation);
  module.def("change_nogc_scopes", [](int change) {
    return CollectionResponder::instance()->nogc_scopes.fetch_add(change) + change;
  });
  module.def("collecting_here", &CollectionWatch::collecting_here);
}

}  // namespace fallow::python
