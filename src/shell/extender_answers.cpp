#include <boost/json.hpp>
#include <fmt/format.h>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "net/http_message.h"
#include "shell/extender_messages.h"

// Reads what extenders answer. It comes from a program that somebody else wrote: nothing about it is taken
// for granted.
namespace berth::shell {
namespace {

namespace json = boost::json;
using cycle::ExtenderAnswer;
using cycle::ExtenderVerb;

// Deeper than any object of Kubernetes.
constexpr std::size_t kAnswerDepthMax = 64;

std::string ToText(const json::string& text) { return std::string(text.data(), text.size()); }

std::unexpected<base::Error> WrongType(std::string_view path, std::string_view wanted) {
  return base::Fail(fmt::format("the extender's answer: {} is not {}", path, wanted));
}

// The last one of that name, whatever its case; null if there is none or if it is null.
const json::value* Member(const json::object& object, std::string_view key) {
  const json::value* found = nullptr;
  for (const auto& [name, value] : object) {
    if (net::EqualsIgnoringCase({name.data(), name.size()}, key)) {
      found = &value;
    }
  }
  return found == nullptr || found->is_null() ? nullptr : found;
}

base::Result<void> ReadText(const json::object& object, std::string_view key, std::string& text) {
  const json::value* const value = Member(object, key);
  if (value == nullptr) return {};
  if (!value->is_string()) return WrongType(key, "a string");
  text = ToText(value->get_string());
  return {};
}

base::Result<void> ReadNumber(const json::object& object, std::string_view key, std::int64_t& number) {
  const json::value* const value = Member(object, key);
  if (value == nullptr) return {};
  if (value->is_int64()) {
    number = value->get_int64();
  } else {
    return WrongType(key, "an integer");
  }
  return {};
}

base::Result<void> ReadNames(const json::object& object, std::string_view key,
                             std::optional<std::vector<std::string>>& names) {
  const json::value* const value = Member(object, key);
  if (value == nullptr) return {};
  if (!value->is_array()) return WrongType(key, "a list of strings");
  names.emplace();
  for (const json::value& name : value->get_array()) {
    if (!name.is_string()) return WrongType(key, "a list of strings");
    names->push_back(ToText(name.get_string()));
  }
  return {};
}

// The names of the objects in a NodeList.
base::Result<void> ReadNodes(const json::object& object, std::optional<std::vector<std::string>>& names) {
  const json::value* const list = Member(object, "Nodes");
  if (list == nullptr) return {};
  if (!list->is_object()) return WrongType("Nodes", "an object");
  names.emplace();
  const json::value* const items = Member(list->get_object(), "items");
  if (items == nullptr) return {};
  if (!items->is_array()) return WrongType("Nodes.items", "a list");
  for (const json::value& item : items->get_array()) {
    if (!item.is_object()) return WrongType("Nodes.items", "a list of objects");
    std::string name;
    if (const json::value* const metadata = Member(item.get_object(), "metadata")) {
      if (!metadata->is_object()) return WrongType("Nodes.items.metadata", "an object");
      if (auto read = ReadText(metadata->get_object(), "name", name); !read) return read;
    }
    names->push_back(std::move(name));
  }
  return {};
}

base::Result<void> ReadReasons(const json::object& object, std::string_view key,
                               ExtenderAnswer::Reasons& reasons) {
  const json::value* const value = Member(object, key);
  if (value == nullptr) return {};
  if (!value->is_object()) return WrongType(key, "an object");
  for (const auto& [node, reason] : value->get_object()) {
    if (!reason.is_string()) return WrongType(key, "an object of strings");
    reasons.emplace_back(std::string(node.data(), node.size()), ToText(reason.get_string()));
  }
  return {};
}

base::Result<ExtenderAnswer> ReadFilter(const json::value& value) {
  ExtenderAnswer answer;
  if (value.is_null()) return answer;
  if (!value.is_object()) return WrongType("it", "an object");
  const json::object& object = value.get_object();
  if (auto read = ReadText(object, "Error", answer.error); !read) return std::unexpected(read.error());
  if (auto read = ReadNames(object, "NodeNames", answer.node_names); !read)
    return std::unexpected(read.error());
  if (auto read = ReadNodes(object, answer.nodes); !read) return std::unexpected(read.error());
  if (auto read = ReadReasons(object, "FailedNodes", answer.failed); !read)
    return std::unexpected(read.error());
  if (auto read = ReadReasons(object, "FailedAndUnresolvableNodes", answer.failed_and_unresolvable); !read) {
    return std::unexpected(read.error());
  }
  return answer;
}

base::Result<ExtenderAnswer> ReadPriorities(const json::value& value) {
  ExtenderAnswer answer;
  if (value.is_null()) return answer;
  if (!value.is_array()) return WrongType("it", "a list");
  for (const json::value& entry : value.get_array()) {
    if (!entry.is_object()) return WrongType("it", "a list of objects");
    std::pair<std::string, std::int64_t> score;
    if (auto read = ReadText(entry.get_object(), "Host", score.first); !read)
      return std::unexpected(read.error());
    if (auto read = ReadNumber(entry.get_object(), "Score", score.second); !read)
      return std::unexpected(read.error());
    answer.scores.push_back(std::move(score));
  }
  return answer;
}

base::Result<ExtenderAnswer::Victims> ReadVictims(std::string node, const json::value& value) {
  ExtenderAnswer::Victims victims{.node = std::move(node), .uids = {}};
  if (value.is_null()) return victims;
  if (!value.is_object()) return WrongType("NodeNameToMetaVictims", "an object of objects");
  if (auto read = ReadNumber(value.get_object(), "NumPDBViolations", victims.budget_violations); !read) {
    return std::unexpected(read.error());
  }
  const json::value* const pods = Member(value.get_object(), "Pods");
  if (pods == nullptr) return victims;
  if (!pods->is_array()) return WrongType("Pods", "a list");
  for (const json::value& pod : pods->get_array()) {
    if (!pod.is_object()) return WrongType("Pods", "a list of objects");
    std::string uid;
    if (auto read = ReadText(pod.get_object(), "UID", uid); !read) return std::unexpected(read.error());
    victims.uids.push_back(std::move(uid));
  }
  return victims;
}

base::Result<ExtenderAnswer> ReadPreemption(const json::value& value) {
  ExtenderAnswer answer;
  if (value.is_null()) return answer;
  if (!value.is_object()) return WrongType("it", "an object");
  const json::value* const nodes = Member(value.get_object(), "NodeNameToMetaVictims");
  if (nodes == nullptr) return answer;
  if (!nodes->is_object()) return WrongType("NodeNameToMetaVictims", "an object");
  for (const auto& [node, victims] : nodes->get_object()) {
    auto read = ReadVictims(std::string(node.data(), node.size()), victims);
    if (!read) return std::unexpected(std::move(read.error()));
    answer.victims.push_back(*std::move(read));
  }
  return answer;
}

base::Result<ExtenderAnswer> ReadBinding(const json::value& value) {
  ExtenderAnswer answer;
  if (value.is_null()) return answer;
  if (!value.is_object()) return WrongType("it", "an object");
  if (auto read = ReadText(value.get_object(), "Error", answer.error); !read) {
    return std::unexpected(read.error());
  }
  return answer;
}

// The first value; what follows it is not looked at.
base::Result<json::value> FirstValue(std::string_view body) {
  json::stream_parser parser(json::storage_ptr(),
                             json::parse_options{.max_depth = kAnswerDepthMax, .allow_invalid_utf8 = true});
  json::error_code error;
  parser.write_some(body.data(), body.size(), error);
  if (!error && !parser.done()) parser.finish(error);
  if (body.find_first_not_of(" \t\r\n") == std::string_view::npos) return base::Fail("EOF");
  if (error) return base::Fail("the extender's answer is no JSON: " + error.message());
  return parser.release();
}

}  // namespace

base::Result<ExtenderAnswer> ReadAnswer(ExtenderVerb verb, std::string_view body) {
  const base::Result<json::value> value = FirstValue(body);
  if (!value) return std::unexpected(value.error());
  switch (verb) {
    case ExtenderVerb::kFilter:
      return ReadFilter(*value);
    case ExtenderVerb::kPrioritize:
      return ReadPriorities(*value);
    case ExtenderVerb::kPreempt:
      return ReadPreemption(*value);
    case ExtenderVerb::kBind:
      break;
  }
  return ReadBinding(*value);
}

}  // namespace berth::shell
