// A table of sites (RFC 4180), with what each estimate rests on.
#include <fmt/format.h>

#include "profile/export/clean_text.h"
#include "profile/export/exporter.h"
#include "profile/export/stack_rows.h"

namespace fallow::profile {
namespace {

std::string quoted(const std::string& text) {
  std::string cell = "\"";
  for (const char character : valid_utf8(text)) {
    if (character == '"') cell += '"';
    cell += character == '\0' ? ' ' : character;
  }
  return cell + '"';
}

std::string numbers(const Breakdown& bytes) {
  const Interval range = bytes.allocated.interval();
  return fmt::format("{:.0f},{:.0f},{:.0f},{:.0f},{},{:.0f},{:.0f},{:.0f},{:.0f}",
                     bytes.allocated.bytes(), range.low, range.high, bytes.allocated.objects(),
                     bytes.allocated.samples(), bytes.died_young.bytes(), bytes.tenured.bytes(),
                     bytes.died_later.bytes(), bytes.live.bytes());
}

}  // namespace

void write_csv(const Profile& profile, const ExportOptions& options, ByteSink& to) {
  to.write(
      "allocated_bytes,low_95,high_95,allocated_objects,samples,died_young_bytes,tenured_bytes,"
      "died_later_bytes,live_bytes,type,stack\r\n");
  const StackRows rows = stack_rows_of(profile, options);
  for (const Site& site : rows.sites) {
    Site without_type = site;
    without_type.type = 0;
    std::string stack;
    for (const std::string& name : written_stack(profile, without_type)) {
      if (!stack.empty()) stack += ';';
      stack += name;
    }
    const std::string type = site.type == 0 ? "" : profile.type_name(site.type);
    to.write(fmt::format("{},{},{}\r\n", numbers(site.bytes), quoted(type), quoted(stack)));
  }
  if (rows.other_count != 0) to.write(numbers(rows.other) + ",\"\",\"(other)\"\r\n");
  to.finish();
}

}  // namespace fallow::profile
