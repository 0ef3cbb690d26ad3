#pragma once

#include <string>
#include <unordered_set>
#include <vector>

#include "platform/loaded_modules.h"

namespace fallow::profile {

/// Tells modules that have come from those that were there already. Not thread-safe.
class NewModules {
 public:
  void clear() { known_.clear(); }

  /// Of all modules of now, those that were not among the ones of the last call.
  std::vector<platform::LoadedModule> since_last(std::vector<platform::LoadedModule> all) {
    std::unordered_set<std::string> now;
    std::vector<platform::LoadedModule> fresh;
    for (platform::LoadedModule& module : all) {
      const std::string key = module.path + '\0' + std::to_string(module.start);
      if (!known_.contains(key)) fresh.push_back(std::move(module));
      now.insert(key);
    }
    known_ = std::move(now);
    return fresh;
  }

 private:
  std::unordered_set<std::string> known_;
};

}  // namespace fallow::profile
