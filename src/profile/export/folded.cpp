// Collapsed stacks: "root;…;leaf BYTES", one stack a line.
#include <fmt/format.h>

#include <algorithm>

#include "profile/export/clean_text.h"
#include "profile/export/exporter.h"
#include "profile/export/stack_rows.h"

namespace fallow::profile {
namespace {

// A semicolon divides frames, and a blank before the number is the last on the line.
std::string folded_name(const std::string& name) {
  std::string text = one_line(name);
  std::replace(text.begin(), text.end(), ';', ':');
  return text.empty() ? "(no name)" : text;
}

}  // namespace

void write_folded(const Profile& profile, const ExportOptions& options, ByteSink& to) {
  const StackRows rows = stack_rows_of(profile, options);
  for (const Site& site : rows.sites) {
    const double bytes = weight_of(site.bytes, options.weight).bytes();
    if (bytes <= 0) continue;
    std::string line;
    for (const std::string& name : written_stack(profile, site)) {
      if (!line.empty()) line += ';';
      line += folded_name(name);
    }
    to.write(fmt::format("{} {:.0f}\n", line, bytes));
  }
  const double other = weight_of(rows.other, options.weight).bytes();
  if (other > 0) to.write(fmt::format("(other) {:.0f}\n", other));
  to.finish();
}

}  // namespace fallow::profile
