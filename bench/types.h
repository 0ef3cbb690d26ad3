#pragma once

#include "fallow/array.h"
#include "fallow/cursor.h"
#include "fallow/field.h"
#include "fallow/heap.h"
#include "fallow/local.h"
#include "fallow/make.h"

namespace fallow::bench {

/// 16 bytes: the header and an integer that may stay uninitialised.
struct Cell : Object {
  Cell() {}  // NOLINT(modernize-use-equals-default): leaves the value alone
  explicit Cell(std::int64_t initial) : value(initial) {}
  std::int64_t value;
  using Fields = FieldList<>;
};

/// 24 bytes: the header and two references.
struct Pair : Object {
  Pair() = default;
  Pair(const Ref<Pair>& first, const Ref<Pair>& second) : left(first), right(second) {}
  Field<Pair> left;
  Field<Pair> right;
  using Fields = FieldList<&Pair::left, &Pair::right>;
};

}  // namespace fallow::bench
