#include "platform/fork_handlers.h"

#include <gtest/gtest.h>

#include <string>

#include "child_process.h"

namespace fallow::platform {
namespace {

std::string& events() {
  static std::string* const text = new std::string();
  return *text;
}

template <char kName>
void note() {
  events() += kName;
}

TEST(ForkHandlers, RunInRankOrder) {
  // Registered out of order on purpose; registrations last for the whole process.
  on_fork(note<'c'>, note<'C'>, note<'3'>, LockRank::kLog);
  on_fork(note<'a'>, note<'A'>, note<'1'>, LockRank::kHeapCollection);
  on_fork(note<'b'>, note<'B'>, note<'2'>, LockRank::kOldSpace);
  on_fork(note<'d'>, note<'D'>, note<'4'>, LockRank::kOldSpace);
  on_fork(nullptr, nullptr, nullptr);
  on_fork(note<'z'>, nullptr, note<'0'>);
  events().clear();
  EXPECT_EQ(test::run_in_child([] { return events() == "zadbc32410" ? 0 : 1; }), 0);
  EXPECT_EQ(events(), "zadbcCBDA");
}

}  // namespace
}  // namespace fallow::platform
