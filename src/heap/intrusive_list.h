#pragma once

#include <cstddef>

namespace fallow::detail {

/// Places of an element in an IntrusiveList.
template <class T>
struct ListLinks {
  T* previous = nullptr;
  T* next = nullptr;
};

/// A doubly linked list through a member of its elements: it needs no memory of its own, and all
/// but for_each() is O(1). Not thread-safe.
template <class T, ListLinks<T> T::* Links>
class IntrusiveList {
 public:
  [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }
  [[nodiscard]] T* first() const noexcept { return first_; }
  [[nodiscard]] T* last() const noexcept { return last_; }
  [[nodiscard]] static T* next(const T* element) noexcept { return (element->*Links).next; }

  void push_front(T* element) noexcept {
    element->*Links = {nullptr, first_};
    (first_ != nullptr ? (first_->*Links).previous : last_) = element;
    first_ = element;
  }
  void push_back(T* element) noexcept {
    element->*Links = {last_, nullptr};
    (last_ != nullptr ? (last_->*Links).next : first_) = element;
    last_ = element;
  }
  void remove(T* element) noexcept {
    const auto [previous, next] = element->*Links;
    (previous != nullptr ? (previous->*Links).next : first_) = next;
    (next != nullptr ? (next->*Links).previous : last_) = previous;
  }
  /// `element` takes the place of `other`.
  void replace(T* other, T* element) noexcept {
    element->*Links = other->*Links;
    const auto [previous, next] = element->*Links;
    (previous != nullptr ? (previous->*Links).next : first_) = element;
    (next != nullptr ? (next->*Links).previous : last_) = element;
  }

  template <class Visit>
  void for_each(Visit&& visit) const {
    for (T* element = first_; element != nullptr; element = next(element)) visit(element);
  }

 private:
  T* first_ = nullptr;
  T* last_ = nullptr;
};

}  // namespace fallow::detail
