#include "fallow/cursor.h"

#include <algorithm>

#include "heap/heap_core.h"

namespace fallow::detail {

CursorPiece HeapCore::take_piece(MutatorState& state, std::size_t bytes, std::size_t at_most) {
  serve_stop_request();
  if (!make_room(state, bytes)) return {};
  sampling_.follow(state.samples, state.number, MutatorAccess::free(*state.mutator));
  std::uintptr_t& free = MutatorAccess::free(*state.mutator);
  CursorPiece piece;
  piece.begin = free;
  piece.end = free + std::min(state.chunk_end - free, at_most);
  piece.chosen = state.samples.next;
  piece.generation = state.samples.generation;
  pass_limit(state, piece, piece.begin, bytes);
  state.cursor_pieces.push_back(piece);
  free = piece.end;
  // Where the piece ends was decided without a look at the gap. What comes behind it must not
  // depend on what lies in it.
  state.samples.draw(free);
  rearm(state);
  return piece;
}

void HeapCore::pass_limit(MutatorState& state, CursorPiece& piece, std::uintptr_t object,
                          std::size_t bytes) noexcept {
  MutatorSamples& samples = state.samples;
  sampling_.follow(samples, state.number, MutatorAccess::free(*state.mutator));
  if (piece.generation != samples.generation) {
    piece.generation = samples.generation;
    piece.chosen = samples.chosen_from(object);
  }
  const std::uintptr_t end = object + bytes;
  if (end > piece.chosen) {
    sampling_.take(samples, object, bytes, SampleRoute::kNursery);
    piece.chosen = samples.chosen_from(end);
  }
  piece.limit = std::min(piece.end, piece.chosen / kObjectGranule * kObjectGranule);
}

void HeapCore::give_back(MutatorState& state, const CursorPiece& piece,
                         std::uintptr_t free) noexcept {
  // Something was allocated behind the piece.
  if (MutatorAccess::free(*state.mutator) != piece.end) return;
  MutatorAccess::free(*state.mutator) = free;
  if (piece.generation == state.samples.generation) {
    state.samples.next = piece.chosen;
  } else {
    state.samples.draw(free);
  }
  rearm(state);
}

}  // namespace fallow::detail

namespace fallow {

namespace {

using Access = detail::MutatorAccess;

constexpr std::size_t kLargestPiece = std::size_t{128} << 10;

/// The piece that a cursor with this limit holds: most likely one of the last.
auto find_piece(detail::MutatorState& state, std::uintptr_t limit) noexcept {
  auto piece = state.cursor_pieces.end();
  while ((--piece)->limit != limit) {
  }
  return piece;
}

}  // namespace

AllocationCursor::Piece AllocationCursor::refill(Mutator& mutator, std::size_t bytes,
                                                 std::uintptr_t free, std::uintptr_t limit) {
  detail::MutatorState& state = Access::state(mutator);
  detail::HeapCore& core = Access::core(mutator);
  if (free != kEmpty) {
    detail::CursorPiece& held = *find_piece(state, limit);
    if (bytes <= core.max_nursery_object() && free + bytes <= held.end) {
      core.pass_limit(state, held, free, bytes);
      return {free, free + bytes, held.limit};
    }
    close(mutator, free, limit);
  }
  // Zeal sees every allocation; and what does not fit into the nursery goes the ordinary way.
  detail::CursorPiece piece;
  if (!state.zeal.active() && bytes <= core.max_nursery_object()) {
    piece = core.take_piece(state, bytes, kLargestPiece);
  }
  if (piece.end == 0) return {core.allocate_slow(state, bytes, kObjectGranule), kEmpty, kEmpty};
  return {piece.begin, piece.begin + bytes, piece.limit};
}

void AllocationCursor::close(Mutator& mutator, std::uintptr_t free, std::uintptr_t limit) noexcept {
  detail::MutatorState& state = Access::state(mutator);
  const auto held = find_piece(state, limit);
  const detail::CursorPiece piece = *held;
  state.cursor_pieces.erase(held);
  Access::core(mutator).give_back(state, piece, free);
}

}  // namespace fallow
