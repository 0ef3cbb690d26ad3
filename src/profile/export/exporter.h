#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "profile/analysis/profile.h"
#include "profile/export/byte_sink.h"

namespace fallow::profile {

enum class ExportFormat : std::uint8_t { kFirefox, kPprof, kSpeedscope, kFolded, kCsv, kHtml };

/// For formats with one number a stack.
enum class ExportWeight : std::uint8_t { kAllocated, kLive, kDied };

struct ExportOptions {
  ExportWeight weight = ExportWeight::kAllocated;
  /// Stacks beyond this many become one row, "(other)"; 0: no limit.
  std::size_t max_rows = 0;
};

/// By the end of the name: .json.gz Firefox, .pb.gz pprof, .speedscope.json, .folded, .csv, .html.
std::optional<ExportFormat> export_format_of(std::string_view path);

/// All formats in a sentence, for messages.
inline constexpr std::string_view kExportEndings =
    ".json.gz (Firefox Profiler), .pb.gz (pprof), .speedscope.json, .folded, .csv, .html";

/// Writes a profile and finishes the sink. Sums are those of total_of(), whatever the format.
void export_profile(const Profile& profile, ExportFormat format, const ExportOptions& options,
                    ByteSink& to);

void write_firefox(const Profile& profile, ByteSink& to);
void write_pprof(const Profile& profile, ByteSink& to);
void write_speedscope(const Profile& profile, const ExportOptions& options, ByteSink& to);
void write_folded(const Profile& profile, const ExportOptions& options, ByteSink& to);
void write_csv(const Profile& profile, const ExportOptions& options, ByteSink& to);
/// One page that needs nothing else.
void write_html(const Profile& profile, ByteSink& to);

}  // namespace fallow::profile
