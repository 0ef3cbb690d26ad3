#include "tests/codegen/alloc_loop.h"

#include "fallow/cursor.h"
#include "fallow/live.h"
#include "fallow/make.h"

namespace {

/// 16 bytes: the header and an integer that may stay uninitialised.
struct Cell : fallow::Object {
  Cell() {}  // NOLINT(modernize-use-equals-default): leaves the value alone
  explicit Cell(std::uint64_t initial) : value(initial) {}
  std::uint64_t value;
  using Fields = fallow::FieldList<>;
};

/// Makes the compiler believe that the object is used.
void keep(const Cell* cell) { asm volatile("" : : "r"(cell) : "memory"); }

}  // namespace

// The last two objects stay alive, so that no allocation can be left out.
extern "C" [[gnu::noinline]] void fallow_test_loop_without_initialisation(fallow::Mutator& mutator,
                                                                          std::uint64_t count) {
  fallow::Ref<Cell> current;
  fallow::Ref<Cell> previous;
  for (std::uint64_t i = 0; i < count; ++i) {
    previous = current;
    current = fallow::make<Cell>(mutator, fallow::live(previous));
  }
  keep(current.get());
  keep(previous.get());
}

extern "C" [[gnu::noinline]] void fallow_test_loop_with_initialisation(fallow::Mutator& mutator,
                                                                       std::uint64_t count) {
  fallow::Ref<Cell> current;
  fallow::Ref<Cell> previous;
  for (std::uint64_t i = 0; i < count; ++i) {
    previous = current;
    current = fallow::make<Cell>(mutator, fallow::live(previous), i);
  }
  keep(current.get());
  keep(previous.get());
}

extern "C" [[gnu::noinline]] void fallow_test_cursor_without_initialisation(
    fallow::Mutator& mutator, std::uint64_t count) {
  fallow::AllocationCursor cursor(mutator);
  fallow::Ref<Cell> current;
  fallow::Ref<Cell> previous;
  for (std::uint64_t i = 0; i < count; ++i) {
    previous = current;
    current = cursor.make<Cell>(fallow::live(previous));
  }
  keep(current.get());
  keep(previous.get());
}

extern "C" [[gnu::noinline]] void fallow_test_cursor_with_initialisation(fallow::Mutator& mutator,
                                                                         std::uint64_t count) {
  fallow::AllocationCursor cursor(mutator);
  fallow::Ref<Cell> current;
  fallow::Ref<Cell> previous;
  for (std::uint64_t i = 0; i < count; ++i) {
    previous = current;
    current = cursor.make<Cell>(fallow::live(previous), i);
  }
  keep(current.get());
  keep(previous.get());
}
