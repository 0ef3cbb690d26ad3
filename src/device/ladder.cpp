#include "device/ladder.h"

#include <exception>
#include <utility>

#include "platform/clock.h"

namespace fallow::device::detail {

ResponderShare& Ledger::share_of(const std::string& name) {
  for (ResponderShare& each : responders) {
    if (each.name == name) return each;
  }
  responders.emplace_back().name = name;
  return responders.back();
}

Ladder::Ladder(DeviceCore& core, Waiter& waiter, Clock::time_point deadline, Ledger& ledger)
    : core_(core),
      waiter_(&waiter),
      request_(waiter.request),
      domain_(waiter.domain),
      deadline_(deadline),
      ledger_(ledger) {}

Ladder::Ladder(DeviceCore& core, const PoolRequest& request, DomainId domain,
               Clock::time_point deadline, Ledger& ledger)
    : core_(core),
      waiter_(nullptr),
      request_(request),
      domain_(domain),
      deadline_(deadline),
      ledger_(ledger) {}

bool Ladder::done() {
  core_.poll_streams();
  const DeviceCore::Locked lock(core_);
  if (waiter_ == nullptr) {
    const std::uint64_t used = core_.pool.domains()[domain_].used_bytes();
    return core_.pressure[domain_].watermarks.excess(level_, used) == 0;
  }
  if (waiter_->domain == domain_) core_.serve(domain_);
  return waiter_->block != nullptr || waiter_->domain != domain_ || waiter_->no_metadata;
}

bool Ladder::grow_until_done() {
  while (core_.grow(domain_, request_.type, request_.chunk_bytes())) {
    if (done()) return true;
  }
  return false;
}

bool Ladder::wait_for_streams() {
  for (;;) {
    StreamPoint oldest;
    {
      const DeviceCore::Locked lock(core_);
      if (core_.in_flight.empty()) return false;
      oldest = core_.in_flight.oldest();
    }
    if (!core_.backend->wait(oldest.stream, oldest.number, deadline_)) return false;
    if (done()) return true;
  }
}

void Ladder::climb(std::uint64_t arrived_ns) {
  const std::uint64_t began_ns = platform::monotonic_ns();
  ledger_.rest_until_ns = 0;
  // Not yet reclaiming: what is free already, and what the backend still has.
  if (done() || grow_until_done()) return;
  {
    const DeviceCore::Locked lock(core_);
    DomainPressure& pressure = core_.pressure[domain_];
    const std::uint64_t moved = core_.pool.domains()[domain_].moved_bytes;
    const DamperVerdict verdict = pressure.damper.judge(arrived_ns, began_ns, moved);
    if (verdict != DamperVerdict::kClimb) {
      ++pressure.statistics.damped;
      ledger_.given_up = GivenUp::kDamped;
      if (verdict == DamperVerdict::kWait) {
        ledger_.rest_until_ns = pressure.damper.quiet_until_ns();
      }
      return;
    }
    ++pressure.statistics.windows;
  }
  if (core_.release_empty(domain_) != 0 && grow_until_done()) return;
  if (wait_for_streams()) return;
  if (ask_responders()) return;
  ledger_.given_up = out_of_time() ? GivenUp::kOutOfTime : GivenUp::kNothingLeft;
  if (ledger_.given_up == GivenUp::kOutOfTime) return;
  const DeviceCore::Locked lock(core_);
  core_.pressure[domain_].damper.note_failure(began_ns, platform::monotonic_ns(),
                                              core_.pool.domains()[domain_].moved_bytes);
}

bool Ladder::ask_responders() {
  const auto look_again = [this] {
    return done() || (core_.release_empty(domain_) != 0 && grow_until_done());
  };
  for (unsigned round = 0; round < core_.options.max_rounds && !out_of_time(); ++round) {
    ledger_.rounds = round + 1;
    const std::uint64_t freed = pass(PressureLevel::kHard, round);
    if (look_again()) return true;
    if (freed == 0) break;
  }
  if (!more_at_last_ || out_of_time()) return false;
  pass(PressureLevel::kLast, ledger_.rounds);
  return look_again();
}

std::uint64_t Ladder::pass(PressureLevel level, unsigned round) {
  level_ = level;
  std::uint64_t freed = 0;
  const auto list = core_.responders->snapshot();
  for (const auto& entry : *list) {
    if (out_of_time()) {
      ledger_.share_of(entry->data.options.name).skipped = SkipReason::kOutOfTime;
      continue;
    }
    const Responders::Call running(*entry);
    if (!running) continue;
    freed += ask(*entry, level, round);
    if (done()) break;
  }
  return freed;
}

PressureInfo Ladder::describe(PressureLevel level, unsigned attempt, unsigned round) {
  const DeviceCore::Locked lock(core_);
  const UsageStatistics usage = core_.pool.usage(domain_, request_.type);
  const DomainPressure& pressure = core_.pressure[domain_];
  const std::uint64_t wanted =
      waiter_ != nullptr
          ? request_.chunk_bytes()
          : pressure.watermarks.excess(level, core_.pool.domains()[domain_].used_bytes());
  return {.bytes_wanted = wanted,
          .alignment = request_.alignment,
          .domain = domain_,
          .type = request_.type,
          .level = level,
          .attempt = attempt,
          .round = round,
          .largest_free = usage.largest_free,
          .free_bytes = usage.free_bytes,
          .deadline = deadline_,
          .depth = ThreadFrame::depth(&core_) - 1};
}

std::uint64_t Ladder::ask(Entry& entry, PressureLevel level, unsigned round) {
  std::uint64_t freed = 0;
  bool called = false;
  for (unsigned attempt = 0; attempt < core_.options.max_attempts && !out_of_time();) {
    if (std::exchange(called, true) && done()) break;
    const PressureInfo info = describe(level, attempt, round);
    PressureOutcome outcome;
    const std::uint64_t now = call(entry, info, outcome);
    freed += now;
    more_at_last_ |= outcome.more_at_last;
    // It could not even begin: that is no attempt.
    if (outcome.skipped == SkipReason::kBusy && !outcome.retry_is_useless) continue;
    if (outcome.retry_is_useless || (now == 0 && !outcome.more_now)) break;
    ++attempt;
  }
  return freed;
}

std::uint64_t Ladder::call(Entry& entry, const PressureInfo& info, PressureOutcome& outcome) {
  const auto freed_so_far = [this] {
    const DeviceCore::Locked lock(core_);
    return core_.pool.domains()[domain_].freed_bytes;
  };
  const auto say_whom = [this](const char* name) {
    const DeviceCore::Locked lock(core_);
    core_.pressure[domain_].responder = name;
  };
  const std::uint64_t before = freed_so_far();
  const std::uint64_t began_ns = platform::monotonic_ns();
  std::optional<std::string> failure;
  say_whom(entry.data.options.name.c_str());
  try {
    outcome = entry.target->respond(info);
    if (outcome.skipped == SkipReason::kBusy &&
        !entry.target->wait_while_busy(outcome.busy_epoch, deadline_)) {
      outcome.retry_is_useless = true;
    }
  } catch (const std::exception& error) {
    failure = error.what();
    outcome = PressureOutcome::useless();
  } catch (...) {
    failure = "an exception of unknown type";
    outcome = PressureOutcome::useless();
  }
  say_whom(nullptr);
  core_.poll_streams();
  const std::uint64_t freed = freed_so_far() - before;
  record(entry, info, outcome, freed, platform::monotonic_ns() - began_ns, failure);
  return freed;
}

void Ladder::record(Entry& entry, const PressureInfo& info, const PressureOutcome& outcome,
                    std::uint64_t freed, std::uint64_t ns,
                    const std::optional<std::string>& failure) {
  core_.responders->locked([&] {
    ResponderStatistics& statistics = entry.data.statistics;
    ++statistics.calls;
    statistics.bytes += freed;
    statistics.ns += ns;
    if (failure) {
      ++statistics.failures;
      statistics.last_failure = *failure;
    }
    if (outcome.skipped != SkipReason::kNone) {
      ++statistics.skips[static_cast<std::size_t>(outcome.skipped)];
    }
  });
  ResponderShare& share = ledger_.share_of(entry.data.options.name);
  ++share.calls;
  share.bytes += freed;
  share.ns += ns;
  share.skipped = outcome.skipped;
  share.frozen_objects = outcome.frozen_objects;
  if (failure) share.failure = *failure;
  ledger_.reclaimed_bytes += freed;
  {
    const DeviceCore::Locked lock(core_);
    PressureStatistics& statistics = core_.pressure[domain_].statistics;
    statistics.reclaimed_bytes += freed;
    statistics.reclaim_ns += ns;
  }
  const ResponderEvent event{entry.data.options.name, info, outcome, freed, ns,
                             failure.has_value()};
  core_.tell([&event](PressureObserver& observer) { observer.on_responder(event); });
}

}  // namespace fallow::device::detail
