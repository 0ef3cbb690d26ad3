#include "profile/record/stack_walk.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "platform/fast_unwind.h"

namespace fallow::profile {

namespace {

constexpr std::size_t kMostFast = 512;
constexpr std::size_t kWord = sizeof(std::uintptr_t);
/// After so many frames the walk tries to go on where the last one ended.
constexpr std::size_t kWalked = 1024;
/// Beyond any real stack: against loops that bounds alone would let run for long.
constexpr std::size_t kMost = 4'000'000;

/// What a function leaves on the stack: its caller's frame address, and where it returns to.
struct Link {
  std::uintptr_t next;
  std::uintptr_t return_address;
};

// The words are the program's, written at any time before; AddressSanitizer keeps red zones there.
__attribute__((no_sanitize("address", "thread"))) Link read_link(std::uintptr_t frame) noexcept {
  const auto* const words = reinterpret_cast<const volatile std::uintptr_t*>(frame);
  return {words[0], words[1]};
}

bool is_frame(std::uintptr_t frame, std::uintptr_t low, std::uintptr_t high) noexcept {
  // The processor's calling convention aligns what is on the stack to 16 bytes.
  return frame >= low && frame < high && high - frame >= 2 * kWord && frame % 16 == 0;
}

StackEntry embedded_entry(const Frame& frame) noexcept {
  return StackEntry::of(NodeKind::kEmbedded, static_cast<std::uint64_t>(frame.function()),
                        frame.position());
}

/// Whether a chain of kRootFrames links leads from here to the end of the stack.
bool leads_to_the_end(std::uintptr_t frame, ReadableStack stack, std::uintptr_t* chain) noexcept {
  for (std::size_t i = 0; i < StackTrace::kRootFrames; ++i) {
    if (!is_frame(frame, stack.low, stack.high)) return false;
    chain[i] = frame;
    const Link link = read_link(frame);
    if (link.return_address == 0) return false;
    if (link.next <= frame || !is_frame(link.next, stack.low, stack.high)) {
      return i + 1 == StackTrace::kRootFrames;
    }
    frame = link.next;
  }
  return false;
}

}  // namespace

ReturnPoint return_point(std::uintptr_t frame) noexcept {
  const Link link = read_link(frame);
  return {link.next, link.return_address};
}

__attribute__((no_sanitize("address", "thread"))) std::uint8_t* copy_stack(
    std::uint8_t* at, std::uintptr_t start, std::size_t bytes) noexcept {
  const auto* const words = reinterpret_cast<const volatile std::uintptr_t*>(start);
  for (std::size_t i = 0; i < bytes / kWord; ++i) {
    const std::uintptr_t word = words[i];
    std::memcpy(at, &word, kWord);
    at += kWord;
  }
  return at;
}

void walk_embedded(const Frame* embedded, StackTrace& trace) noexcept {
  for (; embedded != nullptr; embedded = embedded->previous()) trace.add(embedded_entry(*embedded));
}

void walk_fast(std::uintptr_t frame, const Frame* embedded, StackTrace& trace) noexcept {
  std::array<void*, kMostFast> addresses;
  const std::size_t count = platform::fast_unwind(addresses.data(), addresses.size());
  const auto end = addresses.begin() + static_cast<std::ptrdiff_t>(count);
  auto* const caller = reinterpret_cast<void*>(read_link(frame).return_address);
  auto first = std::find(addresses.begin(), end, caller);
  if (first == end) first = addresses.begin();
  walk_embedded(embedded, trace);
  for (; first != end; ++first) {
    trace.add(StackEntry::of(NodeKind::kNative, reinterpret_cast<std::uintptr_t>(*first) - 1));
  }
}

void walk_frames(std::uintptr_t frame, ReadableStack stack, const Frame* embedded,
                 RootAnchor* anchor, StackTrace& trace) noexcept {
  std::uintptr_t recent[StackTrace::kRootFrames];  // the last frames that were walked
  std::size_t walked = 0;
  std::uintptr_t low = stack.low;
  while (is_frame(frame, low, stack.high) && walked < kMost) {
    const Link link = read_link(frame);
    if (link.return_address == 0) break;
    const bool goes_on = link.next > frame && is_frame(link.next, frame + kWord, stack.high);
    // A frame lies in the stack frame of the function that owns it; what lies elsewhere is not on
    // this stack and has been entered last.
    const std::uintptr_t until = goes_on ? link.next : frame + 2 * kWord;
    while (embedded != nullptr) {
      const auto address = reinterpret_cast<std::uintptr_t>(embedded);
      if (address >= until && address < stack.high) break;
      trace.add(embedded_entry(*embedded));
      embedded = embedded->previous();
    }
    trace.add(StackEntry::of(NodeKind::kNative, link.return_address - 1));
    if (walked >= kWalked) recent[walked % StackTrace::kRootFrames] = frame;
    ++walked;
    if (!goes_on) break;
    low = frame + kWord;
    frame = link.next;
    if (walked == kWalked && anchor != nullptr && anchor->frame > frame && embedded == nullptr) {
      std::uintptr_t chain[StackTrace::kRootFrames];
      if (leads_to_the_end(anchor->frame, {low, stack.high}, chain)) {
        trace.skip();
        for (const std::uintptr_t root : chain) {
          trace.add(StackEntry::of(NodeKind::kNative, read_link(root).return_address - 1));
        }
        return;
      }
    }
  }
  walk_embedded(embedded, trace);
  if (anchor != nullptr && walked > kWalked + StackTrace::kRootFrames) {
    anchor->frame = recent[walked % StackTrace::kRootFrames];
  }
}

}  // namespace fallow::profile
