#include "profile/analysis/definition_decoder.h"

#include <fmt/format.h>

#include <limits>

namespace fallow::profile {
namespace {

// Numbers are kept in 32 bits; a file with more definitions would be larger than anybody keeps.
constexpr std::size_t kMaxDefinitions = std::numeric_limits<std::uint32_t>::max();

template <class Item>
std::string check_number(std::uint64_t number, const std::vector<Item>& items, const char* what) {
  if (number == items.size() && number < kMaxDefinitions) return {};
  return fmt::format("{} {} is defined where {} should be", what, number, items.size());
}

}  // namespace

std::string DefinitionDecoder::decode(std::uint64_t tag, ByteReader body) {
  bad_string_ = false;
  std::string problem;
  switch (static_cast<DefinitionTag>(tag)) {
    case DefinitionTag::kString:
      problem = string(body);
      break;
    case DefinitionTag::kModule:
      problem = module(body);
      break;
    case DefinitionTag::kFunction:
      problem = function(body);
      break;
    case DefinitionTag::kNode:
      problem = node(body);
      break;
    case DefinitionTag::kType:
      problem = type(body);
      break;
    case DefinitionTag::kThread:
      problem = thread(body);
      break;
    case DefinitionTag::kEpoch:
      problem = epoch(body);
      break;
    case DefinitionTag::kCode:
      problem = code(body);
      break;
    default:
      return {};
  }
  if (body.failed()) return fmt::format("a definition of kind {} is cut short", tag);
  if (bad_string_) return fmt::format("a definition of kind {} names an unknown string", tag);
  return problem;
}

std::uint32_t DefinitionDecoder::string_number(ByteReader& body) {
  const std::uint64_t number = body.varint();
  if (number < definitions_.strings.size()) return static_cast<std::uint32_t>(number);
  bad_string_ = true;
  return 0;
}

std::string DefinitionDecoder::string(ByteReader& body) {
  const std::uint64_t number = body.varint();
  if (auto problem = check_number(number, definitions_.strings, "string"); !problem.empty()) {
    return problem;
  }
  definitions_.strings.emplace_back(ByteReader::as_text(body.rest()));
  return {};
}

std::string DefinitionDecoder::module(ByteReader& body) {
  const std::uint64_t number = body.varint();
  if (auto problem = check_number(number, definitions_.modules, "module"); !problem.empty()) {
    return problem;
  }
  Module module;
  module.path = string_number(body);
  module.build_id = string_number(body);
  module.start = body.varint();
  module.end = body.varint();
  module.bias = body.varint();
  if (module.end < module.start) return fmt::format("module {} ends before it starts", number);
  modules_.add(module.start, module.end, static_cast<std::uint32_t>(number));
  definitions_.modules.push_back(module);
  return {};
}

std::string DefinitionDecoder::function(ByteReader& body) {
  const std::uint64_t number = body.varint();
  if (auto problem = check_number(number, definitions_.functions, "function"); !problem.empty()) {
    return problem;
  }
  Function function;
  function.name = string_number(body);
  function.file = string_number(body);
  function.first_line = body.varint();
  const std::uint64_t count = body.varint();
  for (std::uint64_t i = 0; i < count && !body.failed(); ++i) {
    const std::uint64_t position = body.varint();
    function.lines.emplace_back(position, body.varint());
  }
  definitions_.functions.push_back(std::move(function));
  return {};
}

std::string DefinitionDecoder::node(ByteReader& body) {
  const std::uint64_t number = body.varint();
  if (auto problem = check_number(number, definitions_.nodes, "node"); !problem.empty()) {
    return problem;
  }
  const std::uint64_t parent = body.varint();
  if (parent >= number) return fmt::format("the parent {} of node {} is not known", parent, number);
  Node node;
  node.parent = static_cast<std::uint32_t>(parent);
  const std::uint64_t kind = body.varint();
  node.value = body.varint();
  node.detail = body.varint();
  switch (kind) {
    case static_cast<std::uint64_t>(NodeKind::kNative):
      node.module = modules_.at(node.value);
      node.code = codes_.at(node.value);
      break;
    case static_cast<std::uint64_t>(NodeKind::kEmbedded):
      if (node.value >= definitions_.functions.size()) {
        return fmt::format("node {} names the unknown function {}", number, node.value);
      }
      break;
    case static_cast<std::uint64_t>(NodeKind::kMarker):
      if (node.value >= definitions_.strings.size()) {
        return fmt::format("node {} names the unknown string {}", number, node.value);
      }
      break;
    default:
      return fmt::format("node {} is of the unknown kind {}", number, kind);
  }
  node.kind = static_cast<NodeKind>(kind);
  definitions_.nodes.push_back(node);
  return {};
}

std::string DefinitionDecoder::type(ByteReader& body) {
  const std::uint64_t number = body.varint();
  if (auto problem = check_number(number, definitions_.types, "type"); !problem.empty()) {
    return problem;
  }
  definitions_.types.push_back(string_number(body));
  return {};
}

std::string DefinitionDecoder::thread(ByteReader& body) {
  const std::uint64_t stream = body.varint();
  if (stream > std::numeric_limits<std::uint32_t>::max()) {
    return fmt::format("a thread has the stream {}", stream);
  }
  ThreadInfo thread;
  thread.id = body.varint();
  thread.name = string_number(body);
  thread.started_ns = body.signed_varint();
  definitions_.threads[static_cast<std::uint32_t>(stream)] = thread;
  return {};
}

std::string DefinitionDecoder::epoch(ByteReader& body) {
  const std::uint64_t number = body.varint();
  if (auto problem = check_number(number, definitions_.epochs, "epoch"); !problem.empty()) {
    return problem;
  }
  Epoch epoch;
  epoch.interval_bytes = body.varint();
  epoch.time_ns = body.signed_varint();
  if (!body.failed() && epoch.interval_bytes == 0) return "an epoch has the interval 0";
  definitions_.epochs.push_back(epoch);
  return {};
}

std::string DefinitionDecoder::code(ByteReader& body) {
  const std::uint64_t number = body.varint();
  if (auto problem = check_number(number, definitions_.codes, "code"); !problem.empty()) {
    return problem;
  }
  Code code;
  code.start = body.varint();
  code.bytes = body.varint();
  code.name = string_number(body);
  body.signed_varint();  // time
  if (code.start + code.bytes < code.start) return fmt::format("code {} has no end", number);
  codes_.add(code.start, code.start + code.bytes, static_cast<std::uint32_t>(number));
  definitions_.codes.push_back(code);
  return {};
}

}  // namespace fallow::profile
