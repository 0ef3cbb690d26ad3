#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

#include "profile/export/byte_sink.h"

namespace fallow::profile {

/// Writes JSON piece by piece, so that no document has to be held. Texts may be any bytes: what is
/// no UTF-8 becomes U+FFFD. `<` and `>` are written as escapes, so that the text can stand inside
/// HTML. The caller opens and closes in the right order.
class JsonWriter {
 public:
  explicit JsonWriter(ByteSink& to) : to_(to) {}

  JsonWriter& begin_object() { return open('{'); }
  JsonWriter& end_object() { return close('}'); }
  JsonWriter& begin_array() { return open('['); }
  JsonWriter& end_array() { return close(']'); }
  JsonWriter& key(std::string_view name);

  JsonWriter& value(std::string_view text);
  JsonWriter& value(const char* text) { return value(std::string_view(text)); }
  JsonWriter& value(const std::string& text) { return value(std::string_view(text)); }
  /// A number that is none, or infinite, becomes null.
  JsonWriter& value(double number);
  JsonWriter& value(bool flag) { return raw(flag ? "true" : "false"); }
  template <std::integral Integer>
  JsonWriter& value(Integer number) {
    return raw(std::to_string(number));
  }
  JsonWriter& null() { return raw("null"); }

  template <class Value>
  JsonWriter& member(std::string_view name, const Value& what) {
    return key(name).value(what);
  }
  /// A member that is an array of `count` values, each written by `write(writer, index)`.
  template <class Write>
  JsonWriter& column(std::string_view name, std::size_t count, Write&& write) {
    key(name).begin_array();
    for (std::size_t i = 0; i < count; ++i) write(*this, i);
    return end_array();
  }

  /// Hands everything on; not the sink's finish().
  void flush();

 private:
  JsonWriter& open(char bracket);
  JsonWriter& close(char bracket);
  JsonWriter& raw(std::string_view text);
  void separate();

  ByteSink& to_;
  std::string buffer_;
  bool first_ = true;  // of what is open: no comma
};

}  // namespace fallow::profile
