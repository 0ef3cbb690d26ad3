// Random programs with all kinds of objects with a life of their own, against a model: weak
// references, ephemerons, finalizers, destructors, charges, identity hashes and pins on the same
// objects, under zeal, with the verifier, in steps, and beside a marker thread.
#include <ostream>
#include <set>

#include "fallow/ephemeron.h"
#include "fallow/finalizer.h"
#include "fallow/identity_hash.h"
#include "fallow/ledger.h"
#include "fallow/pin.h"
#include "fallow/weak.h"
#include "tests/heap/test_support.h"

namespace fallow::test {
namespace {

/// Ids of the objects whose destructors have not run.
using Living = std::set<std::size_t>;

struct Thing : Object {
  static constexpr auto kDestruction = Destruction::kWhenDead;
  Thing(Living& all, std::size_t number, Charge&& owned)
      : id(number), check(scramble(number)), charge(std::move(owned)), living(&all) {
    all.insert(number);
  }
  ~Thing() { living->erase(id); }

  Field<Thing> left;
  Field<Thing> right;
  Field<Weak<Thing>> weak;
  Field<Ephemeron<Thing, Thing>> pair;
  std::size_t id;
  std::uint64_t check;
  Charge charge;
  Living* living;
  using Fields = FieldList<&Thing::left, &Thing::right, &Thing::weak, &Thing::pair>;
};

constexpr std::size_t kNone = SIZE_MAX;

/// What the model knows of a Thing.
struct Known {
  std::size_t left = kNone;
  std::size_t right = kNone;
  std::size_t target = kNone;  ///< of its weak reference
  std::size_t key = kNone;     ///< of its ephemeron
  std::size_t value = kNone;
  std::size_t charged = 0;
  std::uint64_t hash = 0;
  bool hashed = false;
  bool registered = false;
};

class Program {
 public:
  Program(const HeapOptions& options, std::uint64_t seed)
      : heap_(options),
        ledger_(heap_, {.name = "random", .hard_limit = std::size_t{64} << 20}),
        queue_(heap_),
        weak_queue_(heap_),
        mutator_(heap_, "random"),
        random_(seed) {
    for (std::size_t i = 0; i < kRoots; ++i) roots_.emplace_back(std::make_unique<Root>(heap_));
  }
  ~Program() {
    pins_.clear();
    roots_.clear();
  }

  void run(std::size_t steps) {
    for (std::size_t i = 0; i < steps && !::testing::Test::HasFailure(); ++i) {
      step();
      drain();
      if (below(40) == 0) check();
    }
    finish();
  }

 private:
  static constexpr std::size_t kRoots = 12;
  struct Root {
    explicit Root(Heap& heap) : object(heap) {}
    Global<Thing> object;
    std::size_t id = kNone;
  };
  struct Pinned {
    Pin<Thing> pin;
    std::size_t id;
  };

  std::size_t below(std::size_t count) { return random_.next() % count; }
  Root& any_root() { return *roots_[below(kRoots)]; }
  Root* full_root() {
    for (int tries = 0; tries < 8; ++tries) {
      Root& root = any_root();
      if (root.id != kNone) return &root;
    }
    return nullptr;
  }

  void step() {
    Root* const root = full_root();
    const std::size_t choice = root == nullptr ? 0 : below(22);
    if (choice < 5) return create();
    Known& known = known_[root->id];
    Root& other = any_root();
    switch (choice) {
      case 5:
      case 6:
        root->object->left = other.object;
        known.left = other.id;
        return;
      case 7:
        root->object->right = other.object;
        known.right = other.id;
        return;
      case 8:
      case 9:
        root->object = nullptr;
        root->id = kNone;
        return;
      case 10:
        if (root->object->left) adopt(other, root->object->left, known.left);
        return;
      case 11:
        return set_weak(*root, other);
      case 12:
        return read_weak(*root, other);
      case 13:
        return set_pair(*root, other, any_root());
      case 14:
        return read_pair(*root, other);
      case 15: {
        EXPECT_EQ(queue_.add(mutator_, root->object), !known.registered);
        known.registered = true;
        return;
      }
      case 16:
        EXPECT_EQ(FinalizerQueue<Thing>::remove(root->object), known.registered);
        known.registered = false;
        return;
      case 17: {
        const std::uint64_t hash = identity_hash<Thing>(root->object);
        EXPECT_TRUE(!known.hashed || hash == known.hash);
        known.hash = hash;
        known.hashed = true;
        return;
      }
      case 18:
        return change_pins(*root);
      case 19:
        return change_charge(*root);
      default:
        return collect();
    }
  }

  void create() {
    const std::size_t charged = below(3) == 0 ? below(100'000) : 0;
    Charge charge = ledger_.charge(mutator_, charged);
    Root& root = any_root();
    const std::size_t id = known_.size();
    known_.emplace_back().charged = charged;
    root.object = make<Thing>(mutator_, living_, id, std::move(charge));
    root.id = id;
  }

  void adopt(Root& root, const Ref<Thing>& object, std::size_t id) {
    ASSERT_TRUE(is(object, id));
    root.object = object;
    root.id = id;
  }

  [[nodiscard]] bool is(const Ref<Thing>& object, std::size_t id) const {
    if (object == nullptr) return id == kNone;
    return object->id == id && object->check == scramble(id) && living_.contains(id);
  }

  void set_weak(Root& holder, Root& target) {
    const bool delivers = below(2) == 0;
    const Ref<Weak<Thing>> weak =
        delivers ? make_weak<Thing>(mutator_, target.object, weak_queue_, target.id)
                 : make_weak<Thing>(mutator_, target.object);
    holder.object->weak = weak;
    known_[holder.id].target = target.id;
  }

  void read_weak(Root& holder, Root& to) {
    if (!holder.object->weak) return;
    const Ref<Thing> target = holder.object->weak->get();
    Known& known = known_[holder.id];
    if (target != nullptr) return adopt(to, target, known.target);
    expect_dead(known.target);
    known.target = kNone;
  }

  void set_pair(Root& holder, Root& key, Root& value) {
    if (key.id == kNone) return;
    const Ref<Ephemeron<Thing, Thing>> pair =
        make_ephemeron<Thing, Thing>(mutator_, key.object, value.object);
    holder.object->pair = pair;
    known_[holder.id].key = key.id;
    known_[holder.id].value = value.id;
  }

  void read_pair(Root& holder, Root& to) {
    if (!holder.object->pair) return;
    Known& known = known_[holder.id];
    const Ref<Thing> key = holder.object->pair->key();
    if (key == nullptr) {
      expect_dead(known.key);
      EXPECT_EQ(holder.object->pair->value(), nullptr);
      known.key = known.value = kNone;
      return;
    }
    ASSERT_TRUE(is(key, known.key));
    const Ref<Thing> value = holder.object->pair->value();
    ASSERT_TRUE(is(value, known.value));
    if (value != nullptr) adopt(to, value, known.value);
  }

  void change_pins(Root& root) {
    if (pins_.size() == 3) {
      ASSERT_TRUE(is(pins_.front()->pin.get(), pins_.front()->id));
      ASSERT_EQ(pins_.front()->pin.get().get(), pins_.front()->pin.address());
      pins_.erase(pins_.begin());
      return;
    }
    pins_.push_back(std::unique_ptr<Pinned>(new Pinned{{mutator_, root.object}, root.id}));
    EXPECT_EQ(root.object.get().get(), pins_.back()->pin.address());
  }

  void change_charge(Root& root) {
    Known& known = known_[root.id];
    if (below(3) == 0) {
      root.object->charge.release();
      known.charged = 0;
    } else if (below(2) == 0) {
      known.charged -= root.object->charge.shrink(below(50'000));
    } else {
      const std::size_t more = below(50'000);
      Charge charge = ledger_.charge(mutator_, more);
      ASSERT_TRUE(root.object->charge.absorb(std::move(charge)));
      known.charged += more;
    }
  }

  void collect() {
    switch (below(6)) {
      case 0:
      case 1:
        heap_.collect_minor();
        break;
      case 2:
        collect_fully();
        break;
      default:
        for (std::size_t quanta = below(12); quanta > 0; --quanta) {
          heap_.step(std::chrono::nanoseconds(0));
          drain();
        }
    }
  }

  /// Exact: whatever is not reachable by now is found.
  void collect_fully() {
    drain();
    std::set<std::size_t> roots = reachable(Ephemerons::kPossible);
    heap_.collect();
    drain();
    // A cycle that was under way has delivered some, which kept others from the cycle after it.
    roots.insert(delivered_.begin(), delivered_.end());
    const std::set<std::size_t> reached = closure(roots, Ephemerons::kPossible);
    for (std::size_t id = 0; id < known_.size(); ++id) {
      ASSERT_TRUE(!known_[id].registered || reached.contains(id)) << "not delivered: " << id;
    }
    for (const auto& root : roots_) {
      if (root->id == kNone || !reached.contains(root->id)) continue;
      const Known& known = known_[root->id];
      if (known.target != kNone && !reached.contains(known.target) && root->object->weak) {
        ASSERT_EQ(root->object->weak->get(), nullptr) << "a weak reference of " << root->id;
      }
      if (known.key != kNone && !reached.contains(known.key) && root->object->pair) {
        ASSERT_EQ(root->object->pair->key(), nullptr) << "an ephemeron of " << root->id;
      }
    }
  }

  /// What was delivered is unreachable, registered once, and lives again if the program likes.
  void drain() {
    delivered_.clear();
    if (queue_.pending() + weak_queue_.pending() == 0) return;
    while (const Ref<Weak<Thing>> weak = weak_queue_.next(mutator_)) {
      EXPECT_EQ(weak->get(), nullptr);
      expect_dead(weak->tag());
    }
    const std::set<std::size_t> reached = reachable();
    while (const Ref<Thing> thing = queue_.next(mutator_)) {
      const std::size_t id = thing->id;
      ASSERT_TRUE(is(thing, id));
      ASSERT_TRUE(known_[id].registered) << "delivered twice, or without registration: " << id;
      // What comes in the same collection may have been brought back by what came before.
      ASSERT_TRUE(!reached.contains(id) || brought_back_.contains(id))
          << "delivered although reachable: " << id;
      known_[id].registered = false;
      delivered_.push_back(id);
      forget_weak_to(id, reached);
      // What it refers to has survived with it.
      ASSERT_TRUE(is(thing->left, known_[id].left));
      ASSERT_TRUE(is(thing->right, known_[id].right));
      if (below(3) == 0) adopt(any_root(), thing, id);
    }
  }

  /// A weak reference or an ephemeron has lost it.
  void expect_dead(std::size_t id) const {
    if (id == kNone || brought_back_.contains(id)) return;
    EXPECT_FALSE(reachable().contains(id)) << id;
  }

  /// What only a dead object reached may live again without its weak references.
  void forget_weak_to(std::size_t dead, const std::set<std::size_t>& reached) {
    std::set<std::size_t> roots = reached;
    roots.insert(dead);
    for (const std::size_t id : closure(roots, Ephemerons::kPossible)) {
      if (!reached.contains(id)) brought_back_.insert(id);
    }
  }

  /// Whether a key that a finalizer has brought back still leads to its value depends on whether
  /// the ephemeron was as dead as the key: it may, but nothing relies on it.
  enum class Ephemerons : std::uint8_t { kSure, kPossible };

  [[nodiscard]] std::set<std::size_t> reachable(Ephemerons ephemerons = Ephemerons::kSure) const {
    std::set<std::size_t> roots;
    for (const auto& root : roots_) roots.insert(root->id);
    for (const auto& pinned : pins_) roots.insert(pinned->id);
    return closure(roots, ephemerons);
  }

  [[nodiscard]] std::set<std::size_t> closure(const std::set<std::size_t>& roots,
                                              Ephemerons ephemerons) const {
    std::set<std::size_t> reached;
    std::vector<std::size_t> pending;
    const auto reach = [&](std::size_t id) {
      if (id != kNone && reached.insert(id).second) pending.push_back(id);
    };
    for (const std::size_t id : roots) reach(id);
    for (std::size_t before = 0; before != reached.size();) {
      before = reached.size();
      while (!pending.empty()) {
        const Known& known = known_[pending.back()];
        pending.pop_back();
        reach(known.left);
        reach(known.right);
      }
      for (const std::size_t id : std::set<std::size_t>(reached)) {
        const std::size_t key = known_[id].key;
        if (!reached.contains(key)) continue;
        if (ephemerons == Ephemerons::kPossible || !brought_back_.contains(key)) {
          reach(known_[id].value);
        }
      }
      if (!pending.empty()) before = 0;
    }
    return reached;
  }

  void check() {
    for (const std::size_t id : reachable()) ASSERT_TRUE(living_.contains(id)) << id;
    std::size_t charged = 0;
    for (const std::size_t id : living_) charged += known_[id].charged;
    ASSERT_EQ(ledger_.charged(), charged);
    const VerifyReport report = heap_.verify();
    ASSERT_EQ(complaints(report), "");
  }

  void finish() {
    pins_.clear();
    for (const auto& root : roots_) {
      root->object = nullptr;
      root->id = kNone;
    }
    for (int round = 0; round < 3; ++round) {
      heap_.collect();
      while (queue_.next(mutator_)) {
      }
      while (weak_queue_.next(mutator_)) {
      }
    }
    EXPECT_TRUE(living_.empty()) << living_.size() << " live for ever";
    EXPECT_EQ(ledger_.charged(), 0U);
    EXPECT_EQ(expect_sound(heap_).objects, 0U);
  }

  Living living_;  // destructors run until the end of the heap
  Heap heap_;
  Ledger ledger_;
  FinalizerQueue<Thing> queue_;
  WeakQueue<Thing> weak_queue_;
  Mutator mutator_;
  platform::SplitMix64 random_;
  std::vector<std::unique_ptr<Root>> roots_;
  std::vector<std::unique_ptr<Pinned>> pins_;
  std::vector<Known> known_;
  std::vector<std::size_t> delivered_;  ///< by the last drain()
  std::set<std::size_t> brought_back_;  ///< by finalizers
};

struct Variant {
  const char* name;
  std::size_t steps;
  std::size_t nursery_bytes;
  std::size_t zeal = 0;
  bool verify = false;
  std::size_t rotating = 0;
  std::size_t markers = 0;
  friend std::ostream& operator<<(std::ostream& out, const Variant& variant) {
    return out << variant.name;
  }
};

constexpr Variant kVariants[] = {
    {.name = "Plain", .steps = 20'000, .nursery_bytes = 16 * kKiB},
    {.name = "Tiny", .steps = 10'000, .nursery_bytes = 4 * kKiB},
    {.name = "Zeal", .steps = 5000, .nursery_bytes = 64 * kKiB, .zeal = 3},
    {.name = "ZealVerify", .steps = 1500, .nursery_bytes = 16 * kKiB, .zeal = 5, .verify = true},
    {.name = "ZealRotating", .steps = 3000, .nursery_bytes = 64 * kKiB, .zeal = 4, .rotating = 7},
    {.name = "Marker", .steps = 10'000, .nursery_bytes = 16 * kKiB, .markers = 1},
    {.name = "MarkerVerify",
     .steps = 2000,
     .nursery_bytes = 16 * kKiB,
     .verify = true,
     .markers = 1},
};

class LivesRandom : public ::testing::TestWithParam<Variant> {};

TEST_P(LivesRandom, AgreesWithTheModel) {
  const Watchdog watchdog(250);
  const Variant& variant = GetParam();
  for (std::uint64_t i = 0; i < 4 && !HasFailure(); ++i) {
    const std::uint64_t seed = seed_or(100 * variant.nursery_bytes + i);
    SCOPED_TRACE("repeat with FALLOW_TEST_SEED=" + std::to_string(seed));
    HeapOptions options = with_nursery(variant.nursery_bytes);
    options.zeal = variant.zeal;
    options.verify = variant.verify;
    options.rotating_nurseries = variant.rotating;
    options.marker_threads = variant.markers;
    options.growth_floor_bytes = 1 * kMiB;
    options.growth_factor = 1.1;
    Program program(options, seed);
    program.run(scaled(variant.steps) * step_multiplier());
  }
}

INSTANTIATE_TEST_SUITE_P(, LivesRandom, ::testing::ValuesIn(kVariants),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace fallow::test
