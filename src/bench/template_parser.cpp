#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <optional>
#include <utility>

#include "bench/template_parts.h"

namespace berth::bench {
namespace {

namespace json = boost::json;

// Deeper than any template for an object; keeps hostile input off the stack.
constexpr int kDepthMax = 100;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsNamePart(char c) { return IsDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

// What Go's templates trim.
constexpr std::string_view kBlanks = " \t\r\n";
bool IsBlank(char c) { return kBlanks.contains(c); }
std::string_view TrimLeft(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  return text;
}
std::string_view TrimRight(std::string_view text) {
  return text.substr(0, text.find_last_not_of(kBlanks) + 1);
}

// One action: the text between {{ and }}.
class ActionParser {
 public:
  explicit ActionParser(std::string_view text) : text_(text) {}

  // The next word, without taking it: "if", "end", ...
  std::string_view PeekWord() {
    SkipBlanks();
    std::size_t size = 0;
    while (size < text_.size() && IsNamePart(text_[size])) ++size;
    return text_.substr(0, size);
  }
  void TakeWord(std::string_view word) { text_.remove_prefix(word.size()); }
  bool AtEnd() {
    SkipBlanks();
    return text_.empty();
  }

  base::Result<TemplatePipeline> Pipeline(int depth = 0) {
    if (depth > kDepthMax) return base::Fail("parentheses are nested too deeply");
    TemplatePipeline pipeline;
    ReadVariables(pipeline);
    do {
      std::vector<TemplateTerm> command;
      while (!AtEnd() && text_[0] != '|' && text_[0] != ')') {
        auto term = Term(depth);
        if (!term) return std::unexpected(std::move(term.error()));
        command.push_back(*std::move(term));
      }
      if (command.empty()) return base::Fail("missing value for command");
      if (command.size() > 1 && command[0].kind != TemplateTerm::Kind::kFunction) {
        return base::Fail("can't give argument to non-function");
      }
      pipeline.commands.push_back(std::move(command));
    } while (TakeIf('|'));
    return pipeline;
  }

 private:
  void SkipBlanks() { text_ = TrimLeft(text_); }
  bool TakeIf(char c) {
    SkipBlanks();
    if (text_.empty() || text_[0] != c) return false;
    text_.remove_prefix(1);
    return true;
  }
  std::string TakeName() {
    const std::string name(PeekWord());
    text_.remove_prefix(name.size());
    return name;
  }

  // "$a := " or "$a, $b := " or "$a = "; nothing is taken if it is none of these.
  void ReadVariables(TemplatePipeline& pipeline) {
    const std::string_view before = text_;
    std::vector<std::string> names;
    do {
      SkipBlanks();
      if (!TakeIf('$')) break;
      names.push_back(TakeName());
    } while (TakeIf(','));
    SkipBlanks();
    if (!names.empty() && text_.starts_with(":=")) {
      text_.remove_prefix(2);
      pipeline.declares = true;
      pipeline.variables = std::move(names);
    } else if (!names.empty() && text_.starts_with("=")) {
      text_.remove_prefix(1);
      pipeline.variables = std::move(names);
    } else {
      text_ = before;
    }
  }

  void ReadFields(TemplateTerm& term) {
    while (text_.size() > 1 && text_[0] == '.' && IsNamePart(text_[1])) {
      text_.remove_prefix(1);
      term.fields.push_back(TakeName());
    }
  }

  base::Result<TemplateTerm> Term(int depth) {
    TemplateTerm term;
    const char first = text_[0];
    if (first == '(') {
      text_.remove_prefix(1);
      auto inner = Pipeline(depth + 1);
      if (!inner) return std::unexpected(std::move(inner.error()));
      if (!TakeIf(')')) return base::Fail("unclosed left paren");
      term.kind = TemplateTerm::Kind::kPipeline;
      term.inner.push_back(*std::move(inner));
      ReadFields(term);
      return term;
    }
    if (first == '.') {
      term.kind = TemplateTerm::Kind::kDot;
      if (text_.size() == 1 || !IsNamePart(text_[1])) text_.remove_prefix(1);
      ReadFields(term);
      return term;
    }
    if (first == '$') {
      text_.remove_prefix(1);
      term.kind = TemplateTerm::Kind::kVariable;
      if (!text_.empty() && IsNamePart(text_[0])) term.name = TakeName();
      ReadFields(term);
      return term;
    }
    if (first == '"' || first == '`') return Quoted();
    if (IsDigit(first) || first == '-' || first == '+') return Number();
    return Word();
  }

  base::Result<TemplateTerm> Quoted() {
    const char quote = text_[0];
    text_.remove_prefix(1);
    TemplateTerm term;
    std::string value;
    while (!text_.empty() && text_[0] != quote) {
      if (quote == '"' && text_[0] == '\\' && text_.size() > 1) {
        text_.remove_prefix(1);
        const char escaped = text_[0];
        value += escaped == 'n' ? '\n' : escaped == 't' ? '\t' : escaped;
      } else {
        value += text_[0];
      }
      text_.remove_prefix(1);
    }
    if (text_.empty()) return base::Fail("unterminated quoted string");
    text_.remove_prefix(1);
    term.literal = json::string(value);
    return term;
  }

  base::Result<TemplateTerm> Number() {
    std::size_t size = 1;
    while (size < text_.size() && (IsNamePart(text_[size]) || text_[size] == '.')) ++size;
    const std::string_view digits = text_.substr(0, size);
    const char* const begin = digits.data() + (digits[0] == '+' ? 1 : 0);
    const char* const end = digits.data() + digits.size();
    TemplateTerm term;
    std::int64_t whole = 0;
    double real = 0;
    if (const auto read = std::from_chars(begin, end, whole); read.ec == std::errc() && read.ptr == end) {
      term.literal = whole;
    } else if (const auto again = std::from_chars(begin, end, real);
               again.ec == std::errc() && again.ptr == end) {
      term.literal = real;
    } else {
      return base::Fail(fmt::format("bad number syntax: \"{}\"", digits));
    }
    text_.remove_prefix(size);
    return term;
  }

  base::Result<TemplateTerm> Word() {
    TemplateTerm term;
    term.name = TakeName();
    if (term.name.empty()) return base::Fail(fmt::format("unexpected \"{}\" in operand", text_[0]));
    if (term.name == "true" || term.name == "false") {
      term.literal = term.name == "true";
    } else if (term.name != "nil") {
      if (!IsTemplateFunction(term.name)) {
        return base::Fail(fmt::format("function \"{}\" not defined", term.name));
      }
      term.kind = TemplateTerm::Kind::kFunction;
    }
    return term;
  }

  std::string_view text_;
};

class Parser {
 public:
  explicit Parser(std::string_view text) : rest_(text) {}

  base::Result<TemplateBlock> Parse() {
    auto block = Block(/*depth=*/0);
    if (!block) return base::Fail(fmt::format("template: line {}: {}", line_, block.error().message));
    if (ended_by_ != Ender::kText) return base::Fail(fmt::format("template: line {}: unexpected end", line_));
    return block;
  }

 private:
  // What ended the last block.
  enum class Ender : std::uint8_t { kText, kEnd, kElse };

  base::Result<TemplateBlock> Block(int depth) {
    TemplateBlock block;
    if (depth > kDepthMax) return base::Fail("blocks are nested too deeply");
    while (true) {
      auto action = NextAction(block);
      if (!action) return std::unexpected(std::move(action.error()));
      if (!*action) {
        ended_by_ = Ender::kText;
        return block;
      }
      ActionParser parser(**action);
      const std::string_view word = parser.PeekWord();
      if (word == "end" || word == "else") {
        parser.TakeWord(word);
        ended_by_ = word == "end" ? Ender::kEnd : Ender::kElse;
        after_else_ = parser;
        if (word == "end" && !parser.AtEnd()) return base::Fail("unexpected text behind end");
        return block;
      }
      if (auto added = AddNode(parser, word, block, depth); !added) {
        return std::unexpected(std::move(added.error()));
      }
    }
  }

  base::Result<void> AddNode(ActionParser& parser, std::string_view word, TemplateBlock& block, int depth) {
    if (parser.AtEnd()) return base::Fail("missing value for command");
    TemplateNode node;
    node.kind = TemplateNode::Kind::kAction;
    if (word == "if" || word == "range") {
      parser.TakeWord(word);
      node.kind = word == "if" ? TemplateNode::Kind::kIf : TemplateNode::Kind::kRange;
    } else if (word == "with" || word == "define" || word == "template" || word == "block" ||
               word == "break" || word == "continue") {
      return base::Fail(fmt::format("{} is not supported", word));
    }
    auto pipeline = parser.Pipeline();
    if (!pipeline) return std::unexpected(std::move(pipeline.error()));
    if (!parser.AtEnd()) return base::Fail("unexpected right paren");
    node.pipeline = *std::move(pipeline);
    if (node.kind != TemplateNode::Kind::kAction) {
      if (auto parsed = Bodies(node, depth); !parsed) return parsed;
    }
    block.nodes.push_back(std::move(node));
    return {};
  }

  base::Result<void> Bodies(TemplateNode& node, int depth) {
    auto body = Block(depth + 1);
    if (!body) return std::unexpected(std::move(body.error()));
    node.body = *std::move(body);
    if (ended_by_ == Ender::kElse) {
      ActionParser behind = *after_else_;
      if (!behind.AtEnd()) {
        // "else if": an if inside of the else, which shares its end.
        if (node.kind != TemplateNode::Kind::kIf || behind.PeekWord() != "if") {
          return base::Fail("unexpected text behind else");
        }
        return AddNode(behind, "if", node.otherwise, depth + 1);
      }
      auto otherwise = Block(depth + 1);
      if (!otherwise) return std::unexpected(std::move(otherwise.error()));
      node.otherwise = *std::move(otherwise);
    }
    if (ended_by_ != Ender::kEnd) return base::Fail("unexpected EOF: a block has no end");
    return {};
  }

  // Text up to the next action goes into the block; nothing if there is no further action.
  base::Result<std::optional<std::string_view>> NextAction(TemplateBlock& block) {
    while (true) {
      const std::size_t open = rest_.find("{{");
      std::string_view text = rest_.substr(0, open);
      line_ += static_cast<int>(std::ranges::count(text, '\n'));
      if (trim_next_) text = TrimLeft(text);
      trim_next_ = false;
      if (open == std::string_view::npos) {
        AddText(text, block);
        rest_ = {};
        return std::nullopt;
      }
      rest_.remove_prefix(open + 2);
      if (rest_.size() > 1 && rest_[0] == '-' && IsBlank(rest_[1])) {
        text = TrimRight(text);
        rest_.remove_prefix(1);
      }
      AddText(text, block);
      const std::size_t close = FindClose();
      if (close == std::string_view::npos) return base::Fail("unclosed action");
      std::string_view action = rest_.substr(0, close);
      line_ += static_cast<int>(std::ranges::count(action, '\n'));
      rest_.remove_prefix(close + 2);
      if (action.size() > 1 && action.ends_with('-') && IsBlank(action[action.size() - 2])) {
        trim_next_ = true;
        action.remove_suffix(1);
      }
      action = TrimLeft(TrimRight(action));
      if (action.starts_with("/*") && action.ends_with("*/")) continue;
      return action;
    }
  }

  // Braces inside of quotes do not close.
  std::size_t FindClose() const {
    char quote = 0;
    for (std::size_t i = 0; i + 1 < rest_.size(); ++i) {
      if (quote != 0) {
        if (quote == '"' && rest_[i] == '\\') {
          ++i;
        } else if (rest_[i] == quote) {
          quote = 0;
        }
      } else if (rest_[i] == '"' || rest_[i] == '`') {
        quote = rest_[i];
      } else if (rest_[i] == '}' && rest_[i + 1] == '}') {
        return i;
      }
    }
    return std::string_view::npos;
  }

  static void AddText(std::string_view text, TemplateBlock& block) {
    if (text.empty()) return;
    TemplateNode node;
    node.text = text;
    block.nodes.push_back(std::move(node));
  }

  std::string_view rest_;
  int line_ = 1;
  bool trim_next_ = false;
  Ender ended_by_ = Ender::kText;
  std::optional<ActionParser> after_else_;
};

}  // namespace

base::Result<TemplateBlock> ParseTemplate(std::string_view text) { return Parser(text).Parse(); }

}  // namespace berth::bench
