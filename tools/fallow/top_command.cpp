// fallow top FILE
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "profile/analysis/sites.h"
#include "profile/export/clean_text.h"
#include "tools/fallow/quantity.h"
#include "tools/fallow/recording_commands.h"
#include "tools/fallow/recording_files.h"
#include "tools/fallow/recording_summary.h"
#include "tools/fallow/site_names.h"
#include "tools/fallow/units.h"

namespace fallow::tool {
namespace {

constexpr const char* kExamples = R"(
Each figure is an estimate from k samples, with half the width of its 95 % interval; with fewer than
5 samples it says little and is marked. young: died in the first minor collection; old: survived it.

Examples:
  fallow top run.fallow
  fallow top run.fallow --by type --sort live
  fallow top run.fallow --json | jq .rows[0])";

struct Arguments {
  std::string file;
  std::string by = "site";
  std::string sort = "alloc";
  std::size_t count = 20;
  bool json = false;
};

struct Row {
  std::string name;
  nlohmann::json details;
  profile::Breakdown bytes;
};

nlohmann::json stack_as_json(const profile::Profile& profile, std::uint32_t vertex) {
  const profile::CallTree& tree = profile.tree;
  nlohmann::json frames = nlohmann::json::array();
  for (const std::uint32_t number : tree.stack_of(vertex)) {
    const profile::Frame& frame = tree.frames[number];
    nlohmann::json entry = {{"name", tree.texts[frame.name]}};
    if (frame.file != 0) entry["file"] = tree.texts[frame.file];
    if (frame.line != 0) entry["line"] = frame.line;
    frames.push_back(std::move(entry));
  }
  return frames;
}

const profile::Tally& sorted_by(const profile::Breakdown& bytes, const std::string& sort) {
  if (sort == "live") return bytes.live;
  return sort == "tenured" ? bytes.tenured : bytes.allocated;
}

// Names only what is shown: stacks may be deep and many.
template <class Item, class Name>
std::vector<Row> largest(std::vector<Item> items, const Arguments& arguments, Name&& name) {
  const auto kept = static_cast<std::ptrdiff_t>(std::min(arguments.count, items.size()));
  std::partial_sort(items.begin(), items.begin() + kept, items.end(),
                    [&](const Item& a, const Item& b) {
                      return sorted_by(a.bytes, arguments.sort).bytes() >
                             sorted_by(b.bytes, arguments.sort).bytes();
                    });
  std::vector<Row> rows;
  for (auto item = items.begin(); item != items.begin() + kept; ++item) {
    Row row;
    row.bytes = item->bytes;
    name(*item, row);
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string type_text(const profile::Profile& profile, std::uint32_t type) {
  return type == 0 ? "" : profile.type_name(type);
}

std::vector<Row> rows_of(const profile::Profile& profile, const Arguments& arguments) {
  if (arguments.by == "site") {
    return largest(sites_of(profile), arguments, [&](const profile::Site& site, Row& row) {
      const std::string type = type_text(profile, site.type);
      row.name = site_name(profile, site.vertex, type, 3);
      row.details = {{"type", type}};
      if (arguments.json) row.details["stack"] = stack_as_json(profile, site.vertex);
    });
  }
  const auto by = arguments.by == "type"     ? profile::GroupBy::kType
                  : arguments.by == "thread" ? profile::GroupBy::kThread
                                             : profile::GroupBy::kFunction;
  return largest(groups_of(profile, by), arguments, [&](const profile::Group& group, Row& row) {
    switch (by) {
      case profile::GroupBy::kType:
        row.name = group.key == 0 ? "(no type)" : type_text(profile, group.key);
        break;
      case profile::GroupBy::kThread:
        row.name = thread_name(profile, group.key);
        break;
      case profile::GroupBy::kFunction:
        row.name = profile.tree.texts[group.key];
        break;
    }
    row.details = {{"name", row.name}};
    row.name =
        by == profile::GroupBy::kFunction ? short_name(row.name) : profile::one_line(row.name);
  });
}

void print_table(const std::vector<Row>& rows, const Arguments& arguments) {
  fmt::print("\n{:<34}{:>8}{:>8}  {:<32}{}\n", "allocated", "young", "old", "alive at the end",
             arguments.by);
  for (const Row& row : rows) {
    const double allocated = row.bytes.allocated.bytes();
    fmt::print("{:<34}{:>8}{:>8}  {:<32}{}\n", format_estimate(row.bytes.allocated),
               format_part(row.bytes.died_young.bytes(), allocated),
               format_part(row.bytes.tenured.bytes(), allocated), format_estimate(row.bytes.live),
               row.name);
  }
}

int run_top(const Arguments& arguments) {
  const profile::Profile profile = load_with_progress(arguments.file);
  const std::vector<Row> rows = rows_of(profile, arguments);
  if (arguments.json) {
    nlohmann::json json = summary_as_json(arguments.file, profile);
    json["by"] = arguments.by;
    json["rows"] = nlohmann::json::array();
    for (const Row& row : rows) {
      nlohmann::json entry = breakdown_as_json(row.bytes);
      entry.update(row.details);
      json["rows"].push_back(std::move(entry));
    }
    fmt::print("{}", printed(json));
    return exit_code_of(profile.recording);
  }
  fmt::print("{}", summary_lines(arguments.file, profile));
  print_table(rows, arguments);
  std::fflush(stdout);
  suggest(fmt::format("report {0}    or: fallow survival {0}", shell_word(arguments.file)));
  return exit_code_of(profile.recording);
}

}  // namespace

void add_top_command(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* const top = app.add_subcommand("top", "Who allocates most in a recording");
  top->add_option("file", arguments->file, "Recording")->required();
  top->add_option("--by", arguments->by, "site (stack and type), function, type or thread")
      ->check(CLI::IsMember({"site", "function", "type", "thread"}));
  top->add_option("--sort", arguments->sort, "alloc, live or tenured")
      ->check(CLI::IsMember({"alloc", "live", "tenured"}));
  top->add_option("-n,--count", arguments->count, "Rows; 20 unless given")
      ->check(CLI::Range(std::size_t{1}, std::size_t{1} << 30));
  top->add_flag("--json", arguments->json, "Prints JSON, with whole stacks");
  top->footer(kExamples);
  top->callback(
      [arguments, &exit_code] { exit_code = guarded([&] { return run_top(*arguments); }); });
}

}  // namespace fallow::tool
