#include "tools/fallow/site_names.h"

#include <algorithm>

#include "profile/export/clean_text.h"

namespace fallow::tool {
namespace {

constexpr std::string_view kAnonymous = "(anonymous namespace)";
constexpr std::string_view kOperator = "operator";

// What stands from a bracket to its end, or the bracket alone when it has none.
std::size_t bracket_length(std::string_view text, char open, char close) {
  std::size_t depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == open) ++depth;
    // The > of -> closes nothing.
    if (text[i] == close && (i == 0 || text[i - 1] != '-') && --depth == 0) return i + 1;
  }
  return 1;
}

}  // namespace

std::string short_name(std::string_view name) {
  // Markers such as "(deep stack cut)" and module+0x10 are short already.
  if (name.starts_with('(') && !name.starts_with(kAnonymous)) return profile::one_line(name);
  std::string text;
  while (!name.empty()) {
    std::size_t skipped = 0;
    if (name.starts_with(kAnonymous)) {
      text += kAnonymous;
      skipped = kAnonymous.size();
    } else if (name.starts_with(kOperator)) {
      // operator()(int), operator<<, operator->: the sign belongs to the name.
      const std::size_t end = name.find('(', kOperator.size() + 1);
      text += name.substr(0, end);
      break;
    } else if (name.front() == '(') {
      // A const behind the parameters ends the name, a nested name goes on.
      skipped = bracket_length(name, '(', ')');
      if (name.substr(skipped).find("::") == std::string_view::npos) break;
    } else if (name.front() == '<') {
      skipped = bracket_length(name, '<', '>');
    } else {
      text += name.front();
      skipped = 1;
    }
    name.remove_prefix(skipped);
  }
  // A template's symbol begins with the type that it returns.
  const auto blank = text.find(' ');
  if (blank != std::string::npos && text.find("::", blank) != std::string::npos &&
      text.find(kAnonymous) == std::string::npos && text.find(kOperator) == std::string::npos) {
    text.erase(0, text.rfind(' ') + 1);
  }
  return profile::one_line(text);
}

std::string site_name(const profile::Profile& profile, std::uint32_t vertex, std::string_view type,
                      std::size_t callers) {
  std::string text;
  const profile::CallTree& tree = profile.tree;
  for (std::size_t i = 0; vertex != 0 && i <= callers; vertex = tree.vertices[vertex].parent, ++i) {
    if (i != 0) text += " < ";
    text += short_name(tree.name(tree.vertices[vertex].frame));
  }
  if (vertex != 0) text += " < …";
  if (text.empty()) text = "(no stack)";
  return type.empty() ? text : profile::one_line(type) + " in " + text;
}

std::string thread_name(const profile::Profile& profile, std::uint32_t stream) {
  const auto& threads = profile.recording.definitions.threads;
  const auto found = threads.find(stream);
  if (found == threads.end()) return "thread " + std::to_string(stream);
  const std::string name = profile::one_line(profile.recording.text(found->second.name));
  return (name.empty() ? "thread" : name) + " " + std::to_string(found->second.id);
}

std::string command_line(const profile::Recording& recording) {
  std::string command = recording.meta_value("command");
  while (!command.empty() && command.back() == '\0') command.pop_back();
  return profile::one_line(command);
}

std::string shell_word(const std::string& text) {
  const bool plain = std::all_of(text.begin(), text.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("_-./+,:@%").find(c) != std::string_view::npos;
  });
  if (plain && !text.empty()) return text;
  std::string word = "'";
  for (const char character : text) {
    if (character == '\'') {
      word += "'\\''";
    } else {
      word += character;
    }
  }
  return word + "'";
}

}  // namespace fallow::tool
