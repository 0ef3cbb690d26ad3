// The kinds of roots in the model tests behind one interface.
#pragma once

#include <cstddef>

#include "tests/heap/model/objects.h"

namespace fallow::test {

class Root {
 public:
  Root() = default;
  virtual ~Root() = default;
  Root(const Root&) = delete;
  Root& operator=(const Root&) = delete;
  [[nodiscard]] virtual Ref<Object> get() const = 0;

  void set(const Ref<Object>& value, Shadow* shadow_of_value) {
    assign(value);
    shadow = shadow_of_value;
  }
  void clear() { set({}, nullptr); }

  Shadow* shadow = nullptr;

 private:
  virtual void assign(const Ref<Object>& value) = 0;
};

class LocalRoot : public Root {
 public:
  explicit LocalRoot(Mutator& mutator) : local_(mutator) {}
  [[nodiscard]] Ref<Object> get() const override { return local_; }

 private:
  void assign(const Ref<Object>& value) override { local_ = value; }
  Local<Object> local_;
};

class GlobalRoot : public Root {
 public:
  explicit GlobalRoot(Heap& heap) : global_(heap) {}
  [[nodiscard]] Ref<Object> get() const override { return global_; }

 private:
  void assign(const Ref<Object>& value) override { global_ = value; }
  Global<Object> global_;
};

/// A slot of a Frame or of a RootProvider.
class SlotRoot : public Root {
 public:
  SlotRoot() = default;
  void bind(Object*& slot) { slot_ = &slot; }
  [[nodiscard]] Ref<Object> get() const override { return Ref<Object>(*slot_); }

 private:
  void assign(const Ref<Object>& value) override { *slot_ = value.get(); }
  Object** slot_ = nullptr;
};

template <std::size_t Count>
class ArrayProvider : public RootProvider {
 public:
  void visit_roots(const RootVisitor& visitor) override {
    for (Object*& slot : slots) visitor.visit(&slot);
  }
  Object* slots[Count] = {};
};

}  // namespace fallow::test
