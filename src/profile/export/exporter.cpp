#include "profile/export/exporter.h"

#include <utility>

namespace fallow::profile {

std::optional<ExportFormat> export_format_of(std::string_view path) {
  constexpr std::pair<std::string_view, ExportFormat> kEndings[] = {
      {".speedscope.json", ExportFormat::kSpeedscope},
      {".json.gz", ExportFormat::kFirefox},
      {".pb.gz", ExportFormat::kPprof},
      {".folded", ExportFormat::kFolded},
      {".csv", ExportFormat::kCsv},
      {".html", ExportFormat::kHtml},
  };
  for (const auto& [ending, format] : kEndings) {
    if (path.ends_with(ending)) return format;
  }
  return std::nullopt;
}

void export_profile(const Profile& profile, ExportFormat format, const ExportOptions& options,
                    ByteSink& to) {
  switch (format) {
    case ExportFormat::kFirefox: {
      GzipSink packed(to);
      return write_firefox(profile, packed);
    }
    case ExportFormat::kPprof: {
      GzipSink packed(to);
      return write_pprof(profile, packed);
    }
    case ExportFormat::kSpeedscope:
      return write_speedscope(profile, options, to);
    case ExportFormat::kFolded:
      return write_folded(profile, options, to);
    case ExportFormat::kCsv:
      return write_csv(profile, options, to);
    case ExportFormat::kHtml:
      return write_html(profile, to);
  }
}

}  // namespace fallow::profile
