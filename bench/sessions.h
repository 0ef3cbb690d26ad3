#pragma once

#include <cstddef>
#include <random>

#include "bench/types.h"

namespace fallow::bench {

using Text = ValueArray<unsigned char>;

/// What a server knows about one thing.
struct Fact : Object {
  Fact(const Ref<Fact>& after, const Ref<Text>& what, std::int64_t when)
      : next(after), text(what), changed(when) {}
  Field<Fact> next;
  Field<Text> text;
  std::int64_t changed;
  using Fields = FieldList<&Fact::next, &Fact::text>;
};

/// The state of a server: many sessions, each a list of facts. An event replaces the facts of some
/// sessions, so that as much dies in the old space as comes, and the live size stays the same.
/// Belongs on the stack, as the Local in it.
class Sessions {
 public:
  static constexpr std::size_t kFacts = 4;
  static constexpr std::size_t kTextBytes = 464;
  /// Of a session, with its place in the table: 2 KiB.
  static constexpr std::size_t kBytes =
      kFacts * (sizeof(Fact) + Text::kItemsOffset + kTextBytes) + sizeof(void*);

  Sessions(Mutator& mutator, std::size_t count);
  /// Handles an event that changes `count` sessions chosen at random. For each it also allocates
  /// 27 KiB that are needed for a moment only.
  void handle_event(std::size_t count);

 private:
  void receive_and_answer();
  void replace(std::size_t session);

  Mutator& mutator_;
  Local<Array<Fact>> table_;
  std::minstd_rand random_{1};
  std::int64_t events_ = 0;
};

}  // namespace fallow::bench
