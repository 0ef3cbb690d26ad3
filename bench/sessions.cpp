#include "bench/sessions.h"

#include <cstring>

#include "bench/pair_tree.h"
#include "bench/stopwatch.h"

namespace fallow::bench {

namespace {

/// That lead to one change.
constexpr int kMessages = 2;
constexpr std::size_t kMessageBytes = 6 << 10;
/// Of the tree that a message is taken apart into.
constexpr int kMessageDepth = 5;

Ref<Text> written_text(Mutator& mutator, std::size_t bytes, std::int64_t content) {
  const Ref<Text> text = make_values<Text>(mutator, bytes);
  std::memset(text->data(), static_cast<unsigned char>(content), bytes);
  return text;
}

}  // namespace

Sessions::Sessions(Mutator& mutator, std::size_t count)
    : mutator_(mutator), table_(mutator, make_array<Fact>(mutator, count)) {
  for (std::size_t session = 0; session < count; ++session) replace(session);
}

void Sessions::handle_event(std::size_t count) {
  ++events_;
  for (std::size_t i = 0; i < count; ++i) {
    for (int message = 0; message < kMessages; ++message) receive_and_answer();
    replace(random_() % table_->length());
  }
}

void Sessions::receive_and_answer() {
  const Local<Text> message(mutator_, written_text(mutator_, kMessageBytes, events_));
  const Local<Pair> parts(mutator_, pair_tree(mutator_, kMessageDepth));
  const Ref<Text> answer = written_text(mutator_, kMessageBytes, message->get(0));
  keep(answer.get());
}

void Sessions::replace(std::size_t session) {
  Local<Fact> list(mutator_);
  for (std::size_t i = 0; i < kFacts; ++i) {
    Ref<Text> text = written_text(mutator_, kTextBytes, events_);
    list = make<Fact>(mutator_, live(text), list, text, events_);
  }
  table_->set(session, list);
}

}  // namespace fallow::bench
