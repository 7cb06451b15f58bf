#include <fmt/format.h>
#include <fmt/ranges.h>
#include <set>

#include "api/label_selector.h"

// The text form of label selectors. Grammar, and the word for every way to break it, are kube-apiserver's:
//
//   selector    = [ requirement { "," requirement } ]
//   requirement = [ "!" ] key | key ( "=" | "==" | "!=" | ">" | "<" ) [ value ] | key ( "in" | "notin" ) "("
//   values ")" values      = [ value ] { "," [ value ] }
//
// "in" and "notin" are operators only where an operator is due; elsewhere they are words like any other.
namespace berth::api {
namespace {

enum class TokenKind : std::uint8_t { kEnd, kWord, kSymbol };

struct Token {
  TokenKind kind;
  std::string_view text;

  bool Is(std::string_view symbol) const { return kind == TokenKind::kSymbol && text == symbol; }
};

bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
bool IsSymbol(char c) { return std::string_view("=!(),><").find(c) != std::string_view::npos; }

class Lexer {
 public:
  explicit Lexer(std::string_view text) : rest_(text) {}

  // A NUL byte where a token is due ends the text; one behind a token is swallowed with it. Nobody types one,
  // but servers must agree about a request that has one.
  Token Next() {
    while (!rest_.empty() && IsBlank(rest_.front())) rest_.remove_prefix(1);
    if (rest_.empty() || rest_.front() == '\0') return {TokenKind::kEnd, {}};
    std::size_t length = 1;
    const TokenKind kind = IsSymbol(rest_.front()) ? TokenKind::kSymbol : TokenKind::kWord;
    if (kind == TokenKind::kSymbol) {
      if (rest_.starts_with("==") || rest_.starts_with("!=")) length = 2;
    } else {
      while (length < rest_.size() && IsWordPart(rest_[length])) ++length;
    }
    const Token token{kind, rest_.substr(0, length)};
    rest_.remove_prefix(length);
    if (rest_.starts_with('\0')) rest_.remove_prefix(1);
    return token;
  }

 private:
  static bool IsWordPart(char c) { return c != '\0' && !IsBlank(c) && !IsSymbol(c); }

  std::string_view rest_;
};

// Recursive descent with one token of lookahead. Methods return on the first error.
class Parser {
 public:
  explicit Parser(std::string_view text) : lexer_(text), next_(lexer_.Next()) {}

  base::Result<std::vector<Requirement>> Parse() {
    std::vector<Requirement> requirements;
    if (next_.kind == TokenKind::kEnd) return requirements;
    if (!AtRequirement()) return Unexpected(next_, ", expected: !, identifier, or 'end of string'");
    for (;;) {
      base::Result<Requirement> requirement = ParseRequirement();
      if (!requirement) return base::Fail("unable to parse requirement: " + requirement.error().message);
      requirements.push_back(*std::move(requirement));
      const Token separator = Take();
      if (separator.kind == TokenKind::kEnd) return requirements;
      if (!separator.Is(",")) return Unexpected(separator, ", expected: ',' or 'end of string'");
      if (!AtRequirement()) return Unexpected(next_, ", expected: identifier after ','");
    }
  }

 private:
  static std::unexpected<base::Error> Unexpected(Token token, std::string_view expected) {
    return base::Fail(fmt::format("found '{}'{}", token.text, expected));
  }

  Token Take() {
    const Token taken = next_;
    if (taken.kind != TokenKind::kEnd) next_ = lexer_.Next();
    return taken;
  }

  bool AtRequirement() const { return next_.kind == TokenKind::kWord || next_.Is("!"); }
  bool AtRequirementEnd() const { return next_.kind == TokenKind::kEnd || next_.Is(","); }

  base::Result<Requirement> ParseRequirement() {
    const bool negated = next_.Is("!");
    if (negated) Take();
    const Token key = Take();
    if (key.kind != TokenKind::kWord) return Unexpected(key, ", expected: identifier");
    // The key is judged before what follows it, and under no path: messages begin with "<nil>".
    if (const auto problems = LabelKeyProblems(key.text); !problems.empty()) {
      return base::Fail(InvalidField(FieldPath(), key.text, fmt::to_string(fmt::join(problems, "; "))));
    }
    if (negated) return Make(key, SelectorOperator::kDoesNotExist, {});
    if (AtRequirementEnd()) return Make(key, SelectorOperator::kExists, {});

    const Token op_token = Take();
    const std::optional<SelectorOperator> op = BinaryOperator(op_token);
    if (!op) return Unexpected(op_token, ", expected: in, notin, =, ==, !=, gt, lt");
    const bool is_set = *op == SelectorOperator::kIn || *op == SelectorOperator::kNotIn;
    base::Result<std::set<std::string>> values = is_set ? ParseValues() : ParseValue();
    if (!values) return std::unexpected(std::move(values).error());
    return Make(key, *op, {values->begin(), values->end()});
  }

  static base::Result<Requirement> Make(Token key, SelectorOperator op, std::vector<std::string> values) {
    auto requirement = Requirement::Make(std::string(key.text), op, std::move(values));
    if (!requirement) return base::Fail(AggregateErrors(requirement.error()));
    return *std::move(requirement);
  }

  static std::optional<SelectorOperator> BinaryOperator(Token token) {
    if (token.text == "in") return SelectorOperator::kIn;
    if (token.text == "notin") return SelectorOperator::kNotIn;
    if (token.text == "=") return SelectorOperator::kEquals;
    if (token.text == "==") return SelectorOperator::kDoubleEquals;
    if (token.text == "!=") return SelectorOperator::kNotEquals;
    if (token.text == ">") return SelectorOperator::kGreaterThan;
    if (token.text == "<") return SelectorOperator::kLessThan;
    return std::nullopt;
  }

  base::Result<std::set<std::string>> ParseValue() {
    if (AtRequirementEnd()) return std::set<std::string>{""};
    const Token value = Take();
    if (value.kind != TokenKind::kWord) return Unexpected(value, ", expected: identifier");
    return std::set<std::string>{std::string(value.text)};
  }

  // A hole next to a comma is the empty value: "()" and "(,)" hold just that one, "(a,)" and "(,a)" two.
  base::Result<std::set<std::string>> ParseValues() {
    const Token open = Take();
    if (!open.Is("(")) return Unexpected(open, " expected: '('");
    if (next_.kind != TokenKind::kWord && !next_.Is(",") && !next_.Is(")")) {
      return Unexpected(next_, ", expected: ',', ')' or identifier");
    }
    std::set<std::string> values;
    for (;;) {
      if (next_.kind == TokenKind::kWord) {
        values.emplace(Take().text);
        if (!next_.Is(",") && !next_.Is(")")) return Unexpected(next_, ", expected: ',' or ')'");
      } else {
        values.emplace();
      }
      if (Take().Is(")")) return values;
      if (next_.kind != TokenKind::kWord && !next_.Is(",") && !next_.Is(")")) {
        return Unexpected(next_, ", expected: ',', or identifier");
      }
    }
  }

  Lexer lexer_;
  Token next_;
};

}  // namespace

base::Result<Selector> Selector::Parse(std::string_view text) {
  base::Result<std::vector<Requirement>> requirements = Parser(text).Parse();
  if (!requirements) return std::unexpected(std::move(requirements).error());
  return Selector(*std::move(requirements));
}

}  // namespace berth::api
