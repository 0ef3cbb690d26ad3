#include <algorithm>
#include <utility>

#include "fallow/errors.h"
#include "fallow/type.h"

namespace fallow {

namespace {
constexpr std::size_t kMaxFixedBytes = std::size_t{1} << 20;
constexpr std::size_t kWord = sizeof(void*);
}  // namespace

struct TypeBuilder::Plan {
  std::string name;
  std::size_t fixed_bytes = kMinimumObjectBytes;
  std::vector<std::size_t> references;
  bool align16 = false;
  TypeDescriptor::Items items = TypeDescriptor::Items::kNone;
  std::size_t item_bytes = 0;
  std::size_t length_offset = 0;
  std::vector<std::size_t> item_references;
  TypeDescriptor::TraceFunction trace = nullptr;
  TypeDescriptor::DestroyFunction destroy = nullptr;
  Destruction destruction = Destruction::kNone;

  [[noreturn]] void refuse(const std::string& what) const {
    throw UsageError("fallow: type '" + name + "': " + what);
  }

  void check() const {
    if (fixed_bytes % kWord != 0 || fixed_bytes < kWord || fixed_bytes > kMaxFixedBytes) {
      refuse("the fixed part has " + std::to_string(fixed_bytes) +
             " bytes; permitted: multiples of 8 from 8 to 1 MiB");
    }
    check_references(references, kWord, fixed_bytes, "the fixed part");
    if (trace != nullptr && !references.empty()) {
      refuse("has both a trace function and reference offsets");
    }
    if (items == TypeDescriptor::Items::kNone) return;
    if (item_bytes == 0 || item_bytes > kMaxFixedBytes) {
      refuse("items have " + std::to_string(item_bytes) + " bytes; permitted: 1 to 1 MiB");
    }
    if (length_offset % kWord != 0 || length_offset < kWord ||
        length_offset > fixed_bytes - kWord) {
      refuse("the length at offset " + std::to_string(length_offset) +
             " lies outside the fixed part or is unaligned");
    }
    if (std::find(references.begin(), references.end(), length_offset) != references.end()) {
      refuse("the length at offset " + std::to_string(length_offset) + " is also a reference");
    }
    if (items == TypeDescriptor::Items::kRecords) {
      if (item_bytes % kWord != 0) refuse("records with references need a multiple of 8 bytes");
      check_references(item_references, 0, item_bytes, "an item");
    }
  }

  void check_references(const std::vector<std::size_t>& offsets, std::size_t first, std::size_t end,
                        const char* where) const {
    for (std::size_t i = 0; i < offsets.size(); ++i) {
      const std::size_t offset = offsets[i];
      if (offset % kWord != 0 || offset < first || offset > end - kWord) {
        refuse("the reference at offset " + std::to_string(offset) + " lies outside " + where +
               " or is unaligned");
      }
      if (std::count(offsets.begin(), offsets.end(), offset) > 1) {
        refuse("two references at offset " + std::to_string(offset) + " of " + where);
      }
    }
  }
};

TypeBuilder::TypeBuilder(std::string name) : plan_(std::make_unique<Plan>()) {
  plan_->name = std::move(name);
}

TypeBuilder::~TypeBuilder() = default;

TypeBuilder& TypeBuilder::fixed_bytes(std::size_t bytes) {
  plan_->fixed_bytes = bytes;
  return *this;
}

TypeBuilder& TypeBuilder::reference_at(std::size_t offset) {
  plan_->references.push_back(offset);
  return *this;
}

TypeBuilder& TypeBuilder::align16() {
  plan_->align16 = true;
  return *this;
}

TypeBuilder& TypeBuilder::value_items(std::size_t item_bytes, std::size_t length_offset) {
  plan_->items = TypeDescriptor::Items::kValues;
  plan_->item_bytes = item_bytes;
  plan_->length_offset = length_offset;
  return *this;
}

TypeBuilder& TypeBuilder::reference_items(std::size_t length_offset) {
  plan_->items = TypeDescriptor::Items::kReferences;
  plan_->item_bytes = kWord;
  plan_->length_offset = length_offset;
  return *this;
}

TypeBuilder& TypeBuilder::record_items(std::size_t item_bytes, std::size_t length_offset,
                                       std::vector<std::size_t> reference_offsets) {
  plan_->items = TypeDescriptor::Items::kRecords;
  plan_->item_bytes = item_bytes;
  plan_->length_offset = length_offset;
  plan_->item_references = std::move(reference_offsets);
  return *this;
}

TypeBuilder& TypeBuilder::destructor(TypeDescriptor::DestroyFunction destroy,
                                     Destruction destruction) {
  plan_->destroy = destroy;
  plan_->destruction = destruction;
  return *this;
}

TypeBuilder& TypeBuilder::custom_trace(TypeDescriptor::TraceFunction trace) {
  plan_->trace = trace;
  return *this;
}

std::unique_ptr<const TypeBuilder::Type> TypeBuilder::build() const {
  plan_->check();
  auto type = std::make_unique<Type>();
  type->name_ = plan_->name;
  type->offsets_.assign(plan_->references.begin(), plan_->references.end());
  std::sort(type->offsets_.begin(), type->offsets_.end());
  type->item_offsets_.assign(plan_->item_references.begin(), plan_->item_references.end());

  TypeDescriptor& descriptor = type->descriptor_;
  descriptor.name = type->name_;
  descriptor.fixed_bytes =
      static_cast<std::uint32_t>(plan_->items == TypeDescriptor::Items::kNone
                                     ? std::max(plan_->fixed_bytes, kMinimumObjectBytes)
                                     : plan_->fixed_bytes);
  descriptor.alignment = plan_->align16 ? 16 : kObjectGranule;
  descriptor.items = plan_->items;
  if (descriptor.items == TypeDescriptor::Items::kNone) {
    descriptor.size_class = detail::size_class_of(descriptor.fixed_bytes, descriptor.alignment);
  }
  descriptor.item_bytes = static_cast<std::uint32_t>(plan_->item_bytes);
  descriptor.length_offset = static_cast<std::uint32_t>(plan_->length_offset);
  descriptor.reference_offsets = type->offsets_.data();
  descriptor.reference_count = static_cast<std::uint32_t>(type->offsets_.size());
  descriptor.item_reference_offsets = type->item_offsets_.data();
  descriptor.item_reference_count = static_cast<std::uint32_t>(type->item_offsets_.size());
  descriptor.trace = plan_->trace;
  descriptor.destroy = plan_->destroy;
  descriptor.destruction = plan_->destroy == nullptr ? Destruction::kNone : plan_->destruction;
  descriptor.bitmap_is_complete = plan_->trace == nullptr;
  for (const std::uint32_t offset : type->offsets_) {
    if (offset / kWord < 64) {
      descriptor.reference_bitmap |= std::uint64_t{1} << (offset / kWord);
    } else {
      descriptor.bitmap_is_complete = false;
    }
  }
  descriptor.has_references = plan_->trace != nullptr || !type->offsets_.empty() ||
                              plan_->items == TypeDescriptor::Items::kReferences ||
                              !type->item_offsets_.empty();
  return type;
}

}  // namespace fallow
