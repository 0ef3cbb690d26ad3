// fallow info, check and repair
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <array>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <system_error>

#include "fallow/error.h"
#include "profile/analysis/recording_reader.h"
#include "profile/export/byte_sink.h"
#include "tools/fallow/quantity.h"
#include "tools/fallow/recording_commands.h"
#include "tools/fallow/recording_files.h"
#include "tools/fallow/recording_summary.h"
#include "tools/fallow/site_names.h"
#include "tools/fallow/units.h"

namespace fallow::tool {
namespace {

struct Arguments {
  std::string file;
  std::string output;
  bool force = false;
  bool json = false;
};

const char* end_text(std::optional<profile::EndReason> reason) {
  if (!reason) return "none: the program was killed, or still runs";
  switch (*reason) {
    case profile::EndReason::kStopped:
      return "stopped";
    case profile::EndReason::kExit:
      return "the program's end";
    case profile::EndReason::kSizeLimit:
      return "the size limit";
    case profile::EndReason::kDisk:
      return "a full disk";
    case profile::EndReason::kForked:
      return "a fork";
  }
  return "unknown";
}

nlohmann::json info_as_json(const std::string& file, const profile::Profile& profile) {
  const profile::Recording& recording = profile.recording;
  const profile::Definitions& known = recording.definitions;
  nlohmann::json json = summary_as_json(file, profile);
  json["header"] = recording.meta;
  json["end"] = end_text(recording.end);
  json["bytes"] = recording.file_bytes;
  json["chunks"] = recording.chunks;
  json["counts"] = {{"samples", recording.samples.size()},
                    {"time_samples", recording.time_samples.size()},
                    {"pauses", recording.pauses.size()},
                    {"levels", recording.levels.size()},
                    {"strings", known.strings.size() - 1},
                    {"modules", known.modules.size() - 1},
                    {"functions", known.functions.size() - 1},
                    {"nodes", known.nodes.size() - 1},
                    {"types", known.types.size() - 1},
                    {"threads", known.threads.size()},
                    {"fates_without_sample", profile.unmatched_fates},
                    {"raw_stacks", recording.raw_stacks}};
  json["damage"] = nullptr;
  if (recording.damage) {
    json["damage"] = {{"offset", recording.damage->offset}, {"reason", recording.damage->reason}};
  }
  json["epochs"] = nlohmann::json::array();
  for (std::size_t i = 1; i < known.epochs.size(); ++i) {
    json["epochs"].push_back(
        {{"interval_bytes", known.epochs[i].interval_bytes}, {"time_ns", known.epochs[i].time_ns}});
  }
  return json;
}

int run_info(const Arguments& arguments) {
  // Names are not asked for: this must work where the program's files are not.
  class NoNames final : public profile::Symbolizer {
    std::vector<profile::SymbolFrame> find(const profile::LoadedFile&, std::uint64_t) override {
      return {};
    }
  };
  NoNames no_names;
  const profile::Profile profile =
      make_profile(profile::read_recording_file(arguments.file), no_names);
  const nlohmann::json json = info_as_json(arguments.file, profile);
  if (arguments.json) {
    fmt::print("{}", printed(json));
    return exit_code_of(profile.recording);
  }
  fmt::print("{}\n", summary_lines(arguments.file, profile));
  for (const auto& [key, value] : profile.recording.meta) {
    if (key != "command") fmt::print("{:<22}{}\n", key, value);
  }
  fmt::print("{:<22}{}\n", "end", end_text(profile.recording.end));
  fmt::print("{:<22}{} in {} chunks\n", "read",
             format_amount(static_cast<double>(profile.recording.file_bytes)),
             format_count(profile.recording.chunks));
  for (const auto& [key, value] : json["counts"].items()) {
    fmt::print("{:<22}{}\n", key, format_count(value.get<std::uint64_t>()));
  }
  if (profile.recording.damage) {
    fmt::print("{:<22}at byte {}: {}\n", "damage", profile.recording.damage->offset,
               profile.recording.damage->reason);
  }
  std::fflush(stdout);
  suggest(fmt::format("top {}", shell_word(arguments.file)));
  return exit_code_of(profile.recording);
}

int run_check(const Arguments& arguments) {
  const profile::Recording recording = profile::read_recording_file(arguments.file);
  if (arguments.json) {
    nlohmann::json json = {{"file", arguments.file},
                           {"sound", !recording.damage.has_value()},
                           {"sound_bytes", recording.file_bytes},
                           {"chunks", recording.chunks},
                           {"samples", recording.samples.size()}};
    if (recording.damage) json["reason"] = recording.damage->reason;
    fmt::print("{}", printed(json));
    return exit_code_of(recording);
  }
  if (recording.damage) {
    fmt::print("{}: damaged at byte {}: {}; {} samples are before that\n", arguments.file,
               recording.damage->offset, recording.damage->reason,
               format_count(recording.samples.size()));
    std::fflush(stdout);
    suggest(fmt::format("repair {}", shell_word(arguments.file)));
  } else {
    fmt::print("{}: sound, {} in {} chunks\n", arguments.file,
               format_count(recording.samples.size(), "sample", "samples"),
               format_count(recording.chunks));
    std::fflush(stdout);
    suggest(fmt::format("top {}", shell_word(arguments.file)));
  }
  return exit_code_of(recording);
}

void copy_prefix(const std::string& from, const std::string& to, std::uint64_t bytes) {
  std::ifstream file(from, std::ios::binary);
  profile::FileSink sink(to);
  std::array<char, 64 << 10> buffer;
  while (bytes > 0) {
    file.read(buffer.data(),
              static_cast<std::streamsize>(std::min<std::uint64_t>(bytes, buffer.size())));
    if (file.gcount() <= 0) {
      throw std::system_error(EIO, std::generic_category(), "cannot read '" + from + "'");
    }
    sink.write({buffer.data(), static_cast<std::size_t>(file.gcount())});
    bytes -= static_cast<std::uint64_t>(file.gcount());
  }
  sink.finish();
}

int run_repair(Arguments arguments) {
  if (arguments.output.empty()) arguments.output = arguments.file + ".repaired";
  check_output(arguments.output, arguments.force, arguments.file);
  const profile::Recording recording = profile::read_recording_file(arguments.file);
  if (!recording.damage) {
    fmt::print("{}: sound, there is nothing to repair\n", arguments.file);
    return 0;
  }
  copy_prefix(arguments.file, arguments.output, recording.file_bytes);
  fmt::print("wrote {}: the {} before the damage ({})\n", arguments.output,
             format_amount(static_cast<double>(recording.file_bytes)), recording.damage->reason);
  std::fflush(stdout);
  suggest(fmt::format("top {}", shell_word(arguments.output)));
  return 0;
}

CLI::App* add_command(CLI::App& app, const char* name, const char* description,
                      const char* examples, const std::shared_ptr<Arguments>& arguments,
                      int& exit_code, int (*run)(Arguments)) {
  CLI::App* const command = app.add_subcommand(name, description);
  command->add_option("file", arguments->file, "Recording")->required();
  command->footer(examples);
  command->callback(
      [arguments, run, &exit_code] { exit_code = guarded([&] { return run(*arguments); }); });
  return command;
}

}  // namespace

void add_recording_file_commands(CLI::App& app, int& exit_code) {
  auto info = std::make_shared<Arguments>();
  add_command(app, "info", "What a recording says of itself",
              "\nExamples:\n  fallow info run.fallow\n  fallow info run.fallow --json", info,
              exit_code, [](Arguments arguments) { return run_info(arguments); })
      ->add_flag("--json", info->json, "Prints JSON");
  auto check = std::make_shared<Arguments>();
  add_command(app, "check", "Whether a recording is whole",
              "\nExits with 0 when it is and with 3 when not.\n\nExamples:\n  fallow check "
              "run.fallow",
              check, exit_code, [](Arguments arguments) { return run_check(arguments); })
      ->add_flag("--json", check->json, "Prints JSON");
  auto repair = std::make_shared<Arguments>();
  CLI::App* const command = add_command(
      app, "repair", "Writes what is sound of a damaged recording to a new file",
      "\nEvery command reads a damaged recording up to the damage; this is for other readers.\n\n"
      "Examples:\n  fallow repair run.fallow -o whole.fallow",
      repair, exit_code, run_repair);
  command->add_option("-o,--output", repair->output, "File to write; FILE.repaired unless given")
      ->option_text("FILE");
  command->add_flag("-f,--force", repair->force, "Overwrite a file that exists");
}

}  // namespace fallow::tool
