#include "fallow/ledger.h"

#include <algorithm>
#include <mutex>
#include <vector>

#include "fallow/heap.h"
#include "fallow/mutator.h"
#include "heap/heap_core.h"
#include "heap/ledger_account.h"

namespace fallow {

namespace {
/// The part of a limit that young owners may hold before a minor collection looks at them, and by
/// which charges must have grown for another full one.
constexpr std::size_t kLimitParts = 8;
constexpr std::size_t kLeastYoung = std::size_t{64} << 10;
}  // namespace

namespace detail {

bool LedgerAccount::try_charge(std::size_t bytes) noexcept {
  std::size_t before = charged.load(std::memory_order_relaxed);
  do {
    if (bytes > SIZE_MAX - before) return false;
    if (options.hard_limit != 0 && before + bytes > options.hard_limit) return false;
  } while (!charged.compare_exchange_weak(before, before + bytes, std::memory_order_relaxed));
  std::size_t highest = peak.load(std::memory_order_relaxed);
  while (highest < before + bytes &&
         !peak.compare_exchange_weak(highest, before + bytes, std::memory_order_relaxed)) {
  }
  charged_ever.fetch_add(bytes, std::memory_order_relaxed);
  owners.fetch_add(1, std::memory_order_relaxed);
  if (options.counts_for_heap) total->counted.fetch_add(bytes, std::memory_order_relaxed);
  return true;
}

void LedgerAccount::give_back(std::size_t bytes) noexcept {
  charged.fetch_sub(bytes, std::memory_order_relaxed);
  if (options.counts_for_heap) total->counted.fetch_sub(bytes, std::memory_order_relaxed);
}

}  // namespace detail

LedgerFull::LedgerFull(const std::string& name, std::size_t requested, std::size_t charged,
                       std::size_t hard_limit)
    : Error("fallow: the ledger '" + name + "' has no room for " + std::to_string(requested) +
            " bytes: " + std::to_string(charged) + " of at most " + std::to_string(hard_limit) +
            " are charged"),
      requested_(requested),
      charged_(charged),
      hard_limit_(hard_limit) {}

Charge& Charge::operator=(Charge&& other) noexcept {
  if (this == &other) return *this;
  release();
  account_ = std::exchange(other.account_, nullptr);
  bytes_ = std::exchange(other.bytes_, 0);
  return *this;
}

bool Charge::absorb(Charge&& other) noexcept {
  if (other.account_ == nullptr) return true;
  if (account_ == nullptr) {
    *this = std::move(other);
    return true;
  }
  if (account_ != other.account_ || this == &other) return false;
  bytes_ += std::exchange(other.bytes_, 0);
  std::exchange(other.account_, nullptr)->drop();
  return true;
}

std::size_t Charge::shrink(std::size_t bytes) noexcept {
  const std::size_t given = std::min(bytes, bytes_);
  if (given != 0) account_->give_back(given);
  bytes_ -= given;
  return given;
}

void Charge::release() noexcept {
  if (account_ == nullptr) return;
  shrink(bytes_);
  std::exchange(account_, nullptr)->drop();
}

/// In the order in which they are asked.
class Ledger::Responders {
 public:
  struct Each {
    PressureResponder* responder;
    CostClass cost;
    int priority;
  };

  void add(const Each& each) {
    const std::scoped_lock lock(mutex_);
    const auto later = [&each](const Each& other) {
      return std::pair(other.cost, other.priority) > std::pair(each.cost, each.priority);
    };
    all_.insert(std::find_if(all_.begin(), all_.end(), later), each);
  }
  void remove(PressureResponder* responder) {
    const std::scoped_lock lock(mutex_);
    std::erase_if(all_, [responder](const Each& each) { return each.responder == responder; });
  }
  [[nodiscard]] bool empty() {
    const std::scoped_lock lock(mutex_);
    return all_.empty();
  }
  /// Asks one after the other until `done()`. Holds the lock, so that removal waits.
  template <class Done>
  std::size_t ask(const PressureInfo& info, Done done) {
    const std::scoped_lock lock(mutex_);
    std::size_t calls = 0;
    for (const Each& each : all_) {
      if (done()) break;
      ++calls;
      each.responder->respond(info);
    }
    return calls;
  }

 private:
  std::mutex mutex_;  // the program's code runs under it, so it has no place among the ranks
  std::vector<Each> all_;
};

Ledger::Ledger(Heap& heap, LedgerOptions options)
    : heap_(heap),
      account_(new detail::LedgerAccount(std::move(options))),
      responders_(std::make_unique<Responders>()) {
  account_->total = detail::HeapAccess::core(heap).ledgers();
}

Ledger::~Ledger() { account_->drop(); }

Charge Ledger::charge(Mutator& mutator, std::size_t bytes) {
  detail::HeapCore& core = detail::HeapAccess::core(heap_);
  if constexpr (detail::kChecked) detail::check_mutator_use(mutator, "Ledger::charge");
  const std::uint64_t now = core.minor_count();
  if (account_->young_since.exchange(now, std::memory_order_relaxed) != now) {
    account_->young.store(0, std::memory_order_relaxed);
  }
  const std::size_t young = account_->young.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  relieve_young(core, young);
  const std::size_t soft = account_->options.soft_limit;
  if (soft != 0 && charged() + bytes > soft) relieve_soft(mutator, bytes);
  if (!account_->try_charge(bytes) && !relieve_hard(mutator, bytes)) {
    account_->failures.fetch_add(1, std::memory_order_relaxed);
    throw LedgerFull(account_->options.name, bytes, charged(), account_->options.hard_limit);
  }
  return Charge(account_, bytes);
}

void Ledger::relieve_young(detail::HeapCore& core, std::size_t young) {
  std::size_t most = core.young_charge_limit();
  for (const std::size_t limit : {account_->options.soft_limit, account_->options.hard_limit}) {
    if (limit != 0) most = std::min(most, std::max(limit / kLimitParts, kLeastYoung));
  }
  if (young <= most) return;
  if (core.collect_for_ledger(detail::HeapCore::Kind::kMinor)) {
    account_->minor_collections.fetch_add(1, std::memory_order_relaxed);
  }
}

void Ledger::relieve_soft(Mutator& mutator, std::size_t bytes) {
  // Not again before the charges have grown by a part of the limit since.
  const std::size_t soft = account_->options.soft_limit;
  const std::size_t last = account_->after_full.load(std::memory_order_relaxed);
  if (last != 0 && charged() < last + soft / kLimitParts && charged() >= last / 2) return;
  collect_fully();
  if (charged() + bytes > soft) ask(mutator, bytes, PressureLevel::kSoft);
  account_->after_full.store(std::max<std::size_t>(charged(), 1), std::memory_order_relaxed);
}

bool Ledger::relieve_hard(Mutator& mutator, std::size_t bytes) {
  if (bytes > account_->options.hard_limit && account_->options.hard_limit != 0) return false;
  if (detail::HeapAccess::core(heap_).collect_for_ledger(detail::HeapCore::Kind::kMinor)) {
    account_->minor_collections.fetch_add(1, std::memory_order_relaxed);
  }
  if (account_->try_charge(bytes)) return true;
  collect_fully();
  if (account_->try_charge(bytes)) return true;
  ask(mutator, bytes, PressureLevel::kHard);
  if (account_->try_charge(bytes)) return true;
  collect_fully();
  return account_->try_charge(bytes);
}

void Ledger::collect_fully() {
  detail::HeapCore& core = detail::HeapAccess::core(heap_);
  if (core.collect_for_ledger(detail::HeapCore::Kind::kFull)) {
    account_->full_collections.fetch_add(1, std::memory_order_relaxed);
  }
  // Owners whose destructors were left to the reclaimer thread.
  core.lives().dead_bytes().destroy_all();
}

void Ledger::ask(Mutator& mutator, std::size_t bytes, PressureLevel level) {
  if (responders_->empty()) return;
  const bool soft = level == PressureLevel::kSoft;
  const std::size_t limit = soft ? account_->options.soft_limit : account_->options.hard_limit;
  const auto missing = [&]() -> std::size_t {
    const std::size_t wanted = charged() + bytes;
    return wanted > limit ? wanted - limit : 0;
  };
  PressureInfo info;
  info.bytes_wanted = missing();
  info.level = level;
  info.deadline = device::Clock::now() + std::chrono::seconds(1);
  const Parked parked(mutator);
  const std::size_t calls = responders_->ask(info, [&] { return missing() == 0; });
  account_->pressure_calls.fetch_add(calls, std::memory_order_relaxed);
}

void Ledger::add_responder(PressureResponder& responder, const ResponderOptions& options) {
  responders_->add({&responder, options.cost, options.priority});
}

void Ledger::remove_responder(PressureResponder& responder) { responders_->remove(&responder); }

std::size_t Ledger::charged() const noexcept {
  return account_->charged.load(std::memory_order_relaxed);
}

const LedgerOptions& Ledger::options() const noexcept { return account_->options; }

LedgerStatistics Ledger::statistics() const noexcept {
  const auto load = [](const auto& value) { return value.load(std::memory_order_relaxed); };
  LedgerStatistics figures;
  figures.charged = load(account_->charged);
  figures.peak = load(account_->peak);
  figures.charged_ever = load(account_->charged_ever);
  figures.minor_collections = load(account_->minor_collections);
  figures.full_collections = load(account_->full_collections);
  figures.pressure_calls = load(account_->pressure_calls);
  figures.failures = load(account_->failures);
  return figures;
}

}  // namespace fallow
