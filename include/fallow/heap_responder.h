#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>

#include "fallow/heap.h"
#include "fallow/pressure.h"

namespace fallow {

struct HeapResponderOptions {
  /// Device bytes that dead objects of the heap have given back so far; called from any thread.
  /// A full collection that leaves it where it was is not repeated. Empty: nothing is known.
  std::function<std::uint64_t()> freed_bytes{};
  /// Whether full collections are run while a MajorPause exists. Minor ones are in any case.
  bool in_major_pause = true;
  /// How long the responder waits for a collection that cannot begin, because of a NoGc scope or a
  /// mutator that neither parks nor polls; the collection takes place when it can. Not beyond the
  /// deadline of the request.
  std::chrono::nanoseconds patience = std::chrono::milliseconds(200);
};

/// A responder for Device::add_responder, with CostClass::kNative, that collects a heap whose
/// objects own device memory: the young ones first, then all, and all again while bytes come back.
///
/// The collection runs on a thread of its own, so that the thread that allocates device memory may
/// have a mutator in the heap: it must park it (Parked), as around every call that may block. The
/// heap must outlive the responder, whose destructor waits for a collection that is under way.
/// Thread-safe.
std::shared_ptr<PressureResponder> make_heap_responder(Heap& heap,
                                                       HeapResponderOptions options = {});

}  // namespace fallow
