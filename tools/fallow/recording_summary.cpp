#include "tools/fallow/recording_summary.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "tools/fallow/quantity.h"
#include "tools/fallow/site_names.h"
#include "tools/fallow/units.h"

namespace fallow::tool {
namespace {

profile::Loss all_losses(const profile::Recording& recording) {
  profile::Loss all;
  for (const profile::Loss& loss : recording.losses) {
    all.samples += loss.samples;
    all.bytes += loss.bytes;
    all.objects += loss.objects;
  }
  return all;
}

std::string loss_line(const profile::Recording& recording, const profile::Breakdown& total) {
  const profile::Loss lost = all_losses(recording);
  if (lost.samples == 0) return {};
  return fmt::format("lost       {} in {:.0f} samples: {} of all that was allocated, of no place\n",
                     format_amount(lost.bytes), lost.samples,
                     format_part(lost.bytes, lost.bytes + total.allocated.bytes()));
}

std::string cost_line(const profile::Recording& recording) {
  if (!recording.self || recording.self->process_ns == 0) return {};
  const profile::SelfAccount& self = *recording.self;
  const double part =
      static_cast<double>(self.sampling_ns + self.writer_ns) / static_cast<double>(self.process_ns);
  return fmt::format("cost       {:.2g} % of the program's CPU time, {} of memory\n", part * 100,
                     format_amount(static_cast<double>(self.bytes_held)));
}

}  // namespace

std::string summary_lines(const std::string& path, const profile::Profile& profile) {
  const profile::Recording& recording = profile.recording;
  const profile::Breakdown total = total_of(profile);
  const double allocated = total.allocated.bytes();
  std::string text =
      fmt::format("recording  {}: {}, a sample every {}\n", path, format_seconds(profile.seconds()),
                  format_amount(static_cast<double>(profile.interval_bytes())));
  if (const std::string command = command_line(recording); !command.empty()) {
    text += fmt::format("program    {}\n", command);
  }
  text += fmt::format(
      "allocated  {}: {} died in the nursery, {} later, {} are alive\n",
      format_estimate(total.allocated), format_part(total.died_young.bytes(), allocated),
      format_part(total.died_later.bytes(), allocated), format_part(total.live.bytes(), allocated));
  text += fmt::format("alive      {}\n", format_estimate(total.live));
  return text + loss_line(recording, total) + cost_line(recording);
}

nlohmann::json breakdown_as_json(const profile::Breakdown& bytes) {
  return {{"allocated", estimate_as_json(bytes.allocated)},
          {"died_young", estimate_as_json(bytes.died_young)},
          {"tenured", estimate_as_json(bytes.tenured)},
          {"died_later", estimate_as_json(bytes.died_later)},
          {"live", estimate_as_json(bytes.live)},
          {"not_followed", estimate_as_json(bytes.unknown)}};
}

nlohmann::json summary_as_json(const std::string& path, const profile::Profile& profile) {
  const profile::Loss lost = all_losses(profile.recording);
  nlohmann::json json = {
      {"file", path},
      {"program", command_line(profile.recording)},
      {"seconds", profile.seconds()},
      {"interval_bytes", profile.interval_bytes()},
      {"total", breakdown_as_json(total_of(profile))},
      {"lost", {{"samples", lost.samples}, {"bytes", lost.bytes}, {"objects", lost.objects}}},
      {"complete", !profile.recording.damage.has_value()},
      {"warnings", profile.warnings}};
  if (profile.recording.self) {
    const profile::SelfAccount& self = *profile.recording.self;
    json["cost"] = {{"sampling_ns", self.sampling_ns},
                    {"writer_ns", self.writer_ns},
                    {"process_ns", self.process_ns},
                    {"bytes_held", self.bytes_held},
                    {"bytes_written", self.bytes_written}};
  }
  return json;
}

}  // namespace fallow::tool
