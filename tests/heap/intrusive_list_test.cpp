// Against std::list, by random operations.
#include "heap/intrusive_list.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdint>
#include <list>
#include <vector>

namespace fallow::test {
namespace {

struct Item {
  detail::ListLinks<Item> links;
};
using List = detail::IntrusiveList<Item, &Item::links>;

RC_GTEST_PROP(IntrusiveList, BehavesLikeTheModel, (std::vector<std::uint8_t> steps)) {
  std::vector<Item> items(16);
  List list;
  std::list<Item*> model;
  for (const std::uint8_t step : steps) {
    Item* const item = &items[step % 16];
    const auto at = std::find(model.begin(), model.end(), item);
    if (at == model.end() && step & 16 && !model.empty()) {
      list.replace(model.back(), item);
      model.back() = item;
    } else if (at == model.end() && step & 32) {
      list.push_back(item);
      model.push_back(item);
    } else if (at == model.end()) {
      list.push_front(item);
      model.push_front(item);
    } else {
      list.remove(item);
      model.erase(at);
    }
    std::vector<Item*> seen;
    list.for_each([&](Item* each) { seen.push_back(each); });
    RC_ASSERT(seen == std::vector<Item*>(model.begin(), model.end()));
    RC_ASSERT(list.empty() == model.empty());
    RC_ASSERT(list.last() == (model.empty() ? nullptr : model.back()));
  }
}

}  // namespace
}  // namespace fallow::test
