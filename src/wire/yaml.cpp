#include "wire/yaml.h"

#include <absl/strings/escaping.h>
#include <boost/json.hpp>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <istream>
#include <map>
#include <streambuf>
#include <utility>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include "base/go_text.h"
#include "wire/json_document.h"
#include "wire/yaml_scalar.h"

namespace berth::wire {
namespace {

namespace json = boost::json;

// Ends the reading of a document; never leaves this file.
struct YamlFailure {
  YAML::Mark mark;
  std::string what;
};

struct YamlNode {
  enum class Kind : std::uint8_t { kScalar, kSequence, kMapping, kAlias };

  Kind kind = Kind::kScalar;
  YAML::Mark mark;
  std::string tag;                    // "?" for a plain scalar, "!" for a quoted one
  std::string text;                   // of a scalar
  std::vector<std::size_t> children;  // of a mapping: key, value, key, value, ...; of an alias: its target
  bool open = false;                  // its end has not been read
};

// Collects the events of one document as a tree. The root is the first node.
class TreeBuilder final : public YAML::EventHandler {
 public:
  const std::vector<YamlNode>& nodes() const { return nodes_; }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    Add(YamlNode::Kind::kScalar, mark, "?", anchor);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const std::size_t target = anchors_.at(anchor);
    if (nodes_[target].open) throw YamlFailure{mark, "an anchor's value contains itself"};
    nodes_[Add(YamlNode::Kind::kAlias, mark, "", 0)].children.push_back(target);
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    nodes_[Add(YamlNode::Kind::kScalar, mark, tag, anchor)].text = value;
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    Open(YamlNode::Kind::kSequence, mark, tag, anchor);
  }
  void OnSequenceEnd() override { Close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    Open(YamlNode::Kind::kMapping, mark, tag, anchor);
  }
  void OnMapEnd() override { Close(); }

 private:
  std::size_t Add(YamlNode::Kind kind, const YAML::Mark& mark, const std::string& tag,
                  YAML::anchor_t anchor) {
    const std::size_t index = nodes_.size();
    YamlNode& node = nodes_.emplace_back();
    node.kind = kind;
    node.mark = mark;
    node.tag = tag;
    if (!open_.empty()) nodes_[open_.back()].children.push_back(index);
    if (anchor != 0) anchors_[anchor] = index;
    return index;
  }
  void Open(YamlNode::Kind kind, const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
    if (open_.size() >= kNestingMax) throw YamlFailure{mark, "nested too deeply"};
    const std::size_t index = Add(kind, mark, tag, anchor);
    nodes_[index].open = true;
    open_.push_back(index);
  }
  void Close() {
    nodes_[open_.back()].open = false;
    open_.pop_back();
  }

  std::vector<YamlNode> nodes_;
  std::vector<std::size_t> open_;
  std::map<YAML::anchor_t, std::size_t> anchors_;
};

// How much of the work may come from following aliases: nearly all of it in a small document, a tenth in a
// large one. The numbers are go-yaml's, so that both accept the same files.
double AliasShareMax(std::size_t visits) {
  constexpr double kLow = 400'000;
  constexpr double kHigh = 4'000'000;
  const auto count = static_cast<double>(visits);
  if (count <= kLow) return 0.99;
  if (count >= kHigh) return 0.10;
  return 0.99 - 0.89 * (count - kLow) / (kHigh - kLow);
}

std::string_view ShortTag(std::string_view tag) {
  static constexpr std::string_view kPrefix = "tag:yaml.org,2002:";
  return tag.starts_with(kPrefix) ? tag.substr(kPrefix.size()) : std::string_view();
}

std::string_view TypeName(const YamlScalar& scalar) {
  static constexpr std::string_view kNames[] = {"null", "bool", "int", "int", "float", "str"};
  return kNames[scalar.index()];
}

// Turns the tree into a JSON document.
class TreeConverter {
 public:
  TreeConverter(const std::vector<YamlNode>& nodes, const YamlOptions& options)
      : nodes_(nodes), options_(options) {}

  json::value Convert(const YamlNode& node) {
    Visit(node);
    const Nesting nesting(*this, node);
    switch (node.kind) {
      case YamlNode::Kind::kScalar:
        return ScalarValue(node);
      case YamlNode::Kind::kAlias: {
        ++alias_depth_;
        json::value value = Convert(nodes_[node.children[0]]);
        --alias_depth_;
        return value;
      }
      case YamlNode::Kind::kSequence: {
        json::array array;
        for (const std::size_t child : node.children) array.push_back(Convert(nodes_[child]));
        return array;
      }
      case YamlNode::Kind::kMapping:
        break;
    }
    json::object object;
    Members(node, object);
    return object;
  }

  const std::vector<std::string>& repeated_keys() const { return repeated_keys_; }

 private:
  // Aliases nest what the text itself does not.
  struct Nesting {
    Nesting(TreeConverter& converter, const YamlNode& node) : depth(converter.depth_) {
      if (++depth > kNestingMax) throw YamlFailure{node.mark, "nested too deeply"};
    }
    ~Nesting() { --depth; }
    std::size_t& depth;
  };

  void Visit(const YamlNode& node) {
    ++visits_;
    if (alias_depth_ > 0) {
      ++alias_visits_;
      alias_bytes_ += node.text.size();
    }
    const double share = static_cast<double>(alias_visits_) / static_cast<double>(visits_);
    const bool too_many = alias_visits_ > 100 && visits_ > 1000 && share > AliasShareMax(visits_);
    if (too_many || alias_bytes_ > options_.bytes_max) {
      throw YamlFailure{node.mark, "document contains excessive aliasing"};
    }
  }

  // Puts the members of a mapping into `object`, which may hold some already: that is how merge keys work.
  void Members(const YamlNode& node, json::object& object) {
    for (std::size_t i = 0; i + 1 < node.children.size(); i += 2) {
      const YamlNode& key = nodes_[node.children[i]];
      const YamlNode& value = nodes_[node.children[i + 1]];
      if (key.kind == YamlNode::Kind::kScalar && key.text == "<<" &&
          (key.tag == "?" || ShortTag(key.tag) == "merge")) {
        Merge(value, object);
        continue;
      }
      const std::string text = Key(key);
      json::value converted = Convert(value);
      if (options_.unique_keys && object.contains(text)) {
        repeated_keys_.push_back(
            fmt::format("line {}: key {} already set in map", Line(value), base::QuoteGo(text)));
        continue;
      }
      object[text] = std::move(converted);
    }
  }

  void Merge(const YamlNode& node, json::object& object) {
    if (node.kind == YamlNode::Kind::kSequence) {
      // The first of several wins, so it comes last.
      for (auto child = node.children.rbegin(); child != node.children.rend(); ++child) {
        MergeOne(nodes_[*child], object);
      }
      return;
    }
    MergeOne(node, object);
  }
  void MergeOne(const YamlNode& node, json::object& object) {
    const bool alias = node.kind == YamlNode::Kind::kAlias;
    const YamlNode& mapping = alias ? nodes_[node.children[0]] : node;
    if (mapping.kind != YamlNode::Kind::kMapping) {
      throw YamlFailure{node.mark, "map merge requires map or sequence of maps as the value"};
    }
    alias_depth_ += alias ? 1 : 0;
    Visit(mapping);
    const Nesting nesting(*this, node);
    Members(mapping, object);
    alias_depth_ -= alias ? 1 : 0;
  }

  std::string Key(const YamlNode& node) {
    Visit(node);
    if (node.kind == YamlNode::Kind::kAlias) return Key(nodes_[node.children[0]]);
    if (node.kind != YamlNode::Kind::kScalar) throw YamlFailure{node.mark, "a map or a list cannot be a key"};
    std::string decoded;
    const YamlScalar scalar = Scalar(node, decoded);
    if (const auto* text = std::get_if<std::string_view>(&scalar)) return std::string(*text);
    if (const auto* truth = std::get_if<bool>(&scalar)) return *truth ? "true" : "false";
    if (const auto* integer = std::get_if<std::int64_t>(&scalar)) return fmt::format("{}", *integer);
    if (const auto* number = std::get_if<double>(&scalar)) return FloatKey(*number);
    throw YamlFailure{node.mark, fmt::format("unsupported map key {}", base::QuoteGo(node.text))};
  }

  // With the digits of a float, as sigs.k8s.io/yaml writes it.
  static std::string FloatKey(double number) {
    if (std::isnan(number)) return ".nan";
    if (std::isinf(number)) return number > 0 ? ".inf" : "-.inf";
    char digits[32];
    const auto end = std::to_chars(digits, digits + sizeof digits, static_cast<float>(number));
    double shortest = 0;
    std::from_chars(digits, end.ptr, shortest);
    return base::FormatGoFloat(shortest);
  }

  json::value ScalarValue(const YamlNode& node) {
    std::string decoded;
    const YamlScalar scalar = Scalar(node, decoded);
    if (const auto* number = std::get_if<double>(&scalar); number != nullptr && !std::isfinite(*number)) {
      throw YamlFailure{node.mark, fmt::format("JSON has no number {}", node.text)};
    }
    return std::visit(
        [](const auto& value) -> json::value {
          if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::monostate>) {
            return nullptr;
          } else if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::string_view>) {
            return json::string_view(value.data(), value.size());
          } else {
            return value;
          }
        },
        scalar);
  }

  // `decoded` holds the text if it is not that of the node.
  YamlScalar Scalar(const YamlNode& node, std::string& decoded) const {
    if (node.tag == "?") return ResolveYamlScalar(node.text);
    const std::string_view tag = ShortTag(node.tag);
    if (tag == "binary") {
      if (!absl::Base64Unescape(node.text, &decoded)) {
        throw YamlFailure{node.mark, "!!binary value contains invalid base64 data"};
      }
      return std::string_view(decoded);
    }
    if (tag != "bool" && tag != "int" && tag != "float" && tag != "null") return std::string_view(node.text);
    const YamlScalar scalar = ResolveYamlScalar(node.text);
    if (TypeName(scalar) == tag) return scalar;
    if (const auto* integer = std::get_if<std::int64_t>(&scalar); tag == "float" && integer != nullptr) {
      return static_cast<double>(*integer);
    }
    throw YamlFailure{node.mark,
                      fmt::format("cannot decode !!{} `{}` as a !!{}", TypeName(scalar), node.text, tag)};
  }

  std::size_t Line(const YamlNode& node) const {
    return static_cast<std::size_t>(node.mark.line) + options_.first_line;
  }

  const std::vector<YamlNode>& nodes_;
  const YamlOptions& options_;
  std::size_t visits_ = 0;
  std::size_t alias_visits_ = 0;
  std::size_t alias_bytes_ = 0;
  std::size_t alias_depth_ = 0;
  std::size_t depth_ = 0;
  std::vector<std::string> repeated_keys_;
};

// JSON made by Go from a map has its keys sorted.
void SortKeys(json::value& value) {
  if (json::array* array = value.if_array()) {
    for (json::value& element : *array) SortKeys(element);
  }
  json::object* object = value.if_object();
  if (object == nullptr) return;
  std::map<std::string, json::value> sorted;
  for (json::key_value_pair& member : *object) {
    SortKeys(member.value());
    sorted.emplace(std::string(member.key()), std::move(member.value()));
  }
  object->clear();
  for (auto& [key, member] : sorted) object->emplace(key, std::move(member));
}

// Paths below `node`, which is at `path`. A key's own line is the one that a reader looks for.
void AddLines(const std::vector<YamlNode>& nodes, const YamlNode& node, const std::string& path,
              std::map<std::string, std::size_t, std::less<>>& lines) {
  const auto line_of = [](const YamlNode& at) { return static_cast<std::size_t>(at.mark.line) + 1; };
  if (node.kind == YamlNode::Kind::kSequence) {
    for (std::size_t i = 0; i < node.children.size(); ++i) {
      const YamlNode& element = nodes[node.children[i]];
      std::string at = fmt::format("{}[{}]", path, i);
      lines.emplace(at, line_of(element));
      AddLines(nodes, element, at, lines);
    }
  }
  if (node.kind != YamlNode::Kind::kMapping) return;
  for (std::size_t i = 0; i + 1 < node.children.size(); i += 2) {
    const YamlNode& key = nodes[node.children[i]];
    if (key.kind != YamlNode::Kind::kScalar) continue;
    const std::string at = path.empty() ? key.text : fmt::format("{}.{}", path, key.text);
    lines.insert_or_assign(at, line_of(key));
    AddLines(nodes, nodes[node.children[i + 1]], at, lines);
  }
}

// Lets yaml-cpp read the text where it is.
class ViewBuffer final : public std::streambuf {
 public:
  explicit ViewBuffer(std::string_view text) {
    char* begin = const_cast<char*>(text.data());  // get areas are not const; nothing writes to them
    setg(begin, begin, begin + text.size());
  }
};

}  // namespace

base::Result<std::string> YamlToJson(std::string_view text, const YamlOptions& options) {
  if (text.size() > options.bytes_max) {
    return base::Fail(
        fmt::format("yaml: the text has {} bytes, more than {}", text.size(), options.bytes_max));
  }
  const auto fail = [&](const YAML::Mark& mark, std::string_view what) {
    if (mark.is_null()) return base::Fail(fmt::format("yaml: {}", what));
    return base::Fail(fmt::format("yaml: line {}, column {}: {}",
                                  static_cast<std::size_t>(mark.line) + options.first_line, mark.column + 1,
                                  what));
  };
  try {
    ViewBuffer buffer(text);
    std::istream stream(&buffer);
    YAML::Parser parser(stream);
    TreeBuilder tree;
    if (!parser.HandleNextDocument(tree) || tree.nodes().empty()) return "null";
    TreeConverter converter(tree.nodes(), options);
    json::value document = converter.Convert(tree.nodes().front());
    if (!converter.repeated_keys().empty()) {
      return base::Fail(
          fmt::format("yaml: unmarshal errors:\n  {}", fmt::join(converter.repeated_keys(), "\n  ")));
    }
    SortKeys(document);
    return WriteJson(document);
  } catch (const YamlFailure& failure) {
    return fail(failure.mark, failure.what);
  } catch (const YAML::Exception& error) {
    return fail(error.mark, error.msg);
  }
}

std::map<std::string, std::size_t, std::less<>> FindYamlLines(std::string_view text) {
  std::map<std::string, std::size_t, std::less<>> lines;
  if (text.size() > kYamlBytesMax) return lines;
  try {
    ViewBuffer buffer(text);
    std::istream stream(&buffer);
    YAML::Parser parser(stream);
    TreeBuilder tree;
    if (!parser.HandleNextDocument(tree) || tree.nodes().empty()) return lines;
    AddLines(tree.nodes(), tree.nodes().front(), "", lines);
  } catch (const YamlFailure&) {
    lines.clear();
  } catch (const YAML::Exception&) {
    lines.clear();
  }
  return lines;
}

base::Result<std::vector<YamlDocument>> SplitYaml(std::string_view text) {
  std::vector<YamlDocument> documents;
  const char* start = text.data();
  std::size_t start_line = 1;
  std::size_t line_number = 0;
  bool blank = true;
  const auto finish = [&](const char* end) {
    if (!blank) documents.push_back({{start, static_cast<std::size_t>(end - start)}, start_line});
    blank = true;
  };
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    ++line_number;
    const std::size_t first = line.find_first_not_of(" \t\r");
    if (line.starts_with("---")) {
      const std::size_t after = line.find_first_not_of(" \t\r", 3);
      if (after != std::string_view::npos && line[after] != '#') {
        return base::Fail(
            fmt::format("line {}: invalid Yaml document separator: {}", line_number, line.substr(3)));
      }
      finish(text.data());
      start = text.data() + (end == std::string_view::npos ? text.size() : end + 1);
      start_line = line_number + 1;
    } else if (first != std::string_view::npos && line[first] != '#') {
      blank = false;
    }
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  finish(text.data());
  return documents;
}

}  // namespace berth::wire
