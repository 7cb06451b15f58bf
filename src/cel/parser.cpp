#include "cel/parser.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

#include "fmt/format.h"

#include "cel/lexer.h"
#include "cel/literal.h"
#include "cel/macros.h"
#include "cel/utf8.h"

namespace berth::cel {
namespace {

constexpr std::size_t kCodePointsMax = 100'000;
constexpr std::uint32_t kNestingMax = 250;

constexpr std::array<std::string_view, 17> kReserved = {
    "as",  "break", "const",   "continue",  "else",   "for", "function", "if",   "import",
    "let", "loop",  "package", "namespace", "return", "var", "void",     "while"};

struct Operator {
  Token token;
  std::string_view function;
};

constexpr std::array kRelations = {
    Operator{Token::kLess, "_<_"},
    Operator{Token::kLessEquals, "_<=_"},
    Operator{Token::kGreaterEquals, "_>=_"},
    Operator{Token::kGreater, "_>_"},
    Operator{Token::kEquals, "_==_"},
    Operator{Token::kNotEquals, "_!=_"},
    Operator{Token::kIn, "@in"},
};
constexpr std::array kSums = {Operator{Token::kPlus, "_+_"}, Operator{Token::kMinus, "_-_"}};
constexpr std::array kProducts = {Operator{Token::kStar, "_*_"}, Operator{Token::kSlash, "_/_"},
                                  Operator{Token::kPercent, "_%_"}};

template <std::size_t Size>
std::string_view FunctionOf(const std::array<Operator, Size>& operators, Token token) {
  for (const Operator& each : operators) {
    if (each.token == token) return each.function;
  }
  return {};
}

// Recursive descent. After a mistake the position jumps to the end, where no rule finds anything to go on
// with: so every function returns an expression, and no caller has to ask whether it is one.
class Parser {
 public:
  Parser(const Source& source, std::vector<Issue>& issues)
      : source_(source), issues_(issues), tokens_(Tokenize(source, issues)) {}

  ExprPtr Run() {
    ExprPtr expr = ParseExpr();
    if (!broken_ && Peek() != Token::kEnd) Unexpected();
    return expr;
  }

 private:
  Token Peek(std::size_t ahead = 0) const { return tokens_[std::min(at_ + ahead, tokens_.size() - 1)].token; }
  const TokenSpan& Current() const { return tokens_[at_]; }
  Offset Here() const { return Current().offset; }
  bool Take(Token token) {
    if (Peek() != token) return false;
    ++at_;
    return true;
  }
  void Expect(Token token) {
    if (!Take(token)) Unexpected();
  }

  void Break(Offset offset, std::string message) {
    if (broken_) return;
    issues_.push_back({offset, std::move(message)});
    broken_ = true;
    at_ = tokens_.size() - 1;
  }
  void Unexpected() { Break(Here(), "Syntax error: unexpected input " + TokenText(source_, Current())); }
  // A mistake that the grammar does not see.
  ExprPtr Mistake(Offset offset, std::string message) {
    issues_.push_back({offset, std::move(message)});
    return LiteralNode(offset, Value());
  }

  std::u32string_view Text32(const TokenSpan& span) const {
    return std::u32string_view(source_.text()).substr(span.offset, span.length);
  }
  std::string Text(const TokenSpan& span) const { return Encode(Text32(span)); }

  // Counts the node in the nesting of operators and hands it on.
  ExprPtr Nested(ExprPtr expr, std::uint32_t below) {
    expr->nesting = below + 1;
    if (expr->nesting > kNestingMax) Break(kNowhere, "max recursion depth exceeded");
    return expr;
  }
  static std::uint32_t NestingOf(const std::vector<ExprPtr>& exprs) {
    std::uint32_t nesting = 0;
    for (const ExprPtr& expr : exprs) nesting = std::max(nesting, expr->nesting);
    return nesting;
  }
  static ExprPtr Flat(ExprPtr expr, std::uint32_t nesting) {
    expr->nesting = nesting;
    return expr;
  }

  ExprPtr ParseExpr() {
    if (++depth_ > kNestingMax) {
      Break(kNowhere, fmt::format("expression recursion limit exceeded: {}", kNestingMax));
    }
    ExprPtr expr = broken_ ? LiteralNode(0, Value()) : ParseConditional();
    --depth_;
    return expr;
  }

  ExprPtr ParseConditional() {
    ExprPtr condition = ParseOr();
    const Offset offset = Here();
    if (!Take(Token::kQuestion)) return condition;
    std::vector<ExprPtr> arguments;
    arguments.push_back(std::move(condition));
    arguments.push_back(ParseOr());
    Expect(Token::kColon);
    arguments.push_back(ParseExpr());
    const std::uint32_t below = NestingOf(arguments);
    return Nested(CallNode(offset, "_?_:_", std::move(arguments)), below);
  }

  ExprPtr ParseOr() {
    return ParseLogical(Token::kOr, "_||_", [this] {
      return ParseLogical(Token::kAnd, "_&&_", [this] { return ParseRelation(); });
    });
  }

  // a && b && c is one call with three arguments: no deep tree for a long chain.
  template <class Operand>
  ExprPtr ParseLogical(Token token, std::string function, Operand operand) {
    ExprPtr first = operand();
    if (Peek() != token) return first;
    const Offset offset = Here();
    std::vector<ExprPtr> arguments;
    arguments.push_back(std::move(first));
    while (Take(token)) arguments.push_back(operand());
    const std::uint32_t below = NestingOf(arguments);
    return Flat(CallNode(offset, std::move(function), std::move(arguments)), below);
  }

  template <std::size_t Size, class Operand>
  ExprPtr ParseBinary(const std::array<Operator, Size>& operators, Operand operand) {
    ExprPtr left = operand();
    while (true) {
      const std::string_view function = FunctionOf(operators, Peek());
      if (function.empty()) return left;
      const Offset offset = Here();
      ++at_;
      std::vector<ExprPtr> arguments;
      arguments.push_back(std::move(left));
      arguments.push_back(operand());
      const std::uint32_t below = NestingOf(arguments);
      left = Nested(CallNode(offset, std::string(function), std::move(arguments)), below);
    }
  }

  ExprPtr ParseRelation() {
    return ParseBinary(kRelations, [this] {
      return ParseBinary(kSums, [this] { return ParseBinary(kProducts, [this] { return ParseUnary(); }); });
    });
  }

  ExprPtr ParseUnary() {
    const Token sign = Peek();
    const bool literal = sign == Token::kMinus && (Peek(1) == Token::kInt || Peek(1) == Token::kDouble);
    if ((sign != Token::kNot && sign != Token::kMinus) || literal) return ParseMember();
    const Offset offset = Here();
    std::size_t count = 0;
    while (Take(sign)) ++count;
    ExprPtr operand = ParseMember();
    if (count % 2 == 0) return operand;
    const std::uint32_t below = operand->nesting;
    std::vector<ExprPtr> arguments;
    arguments.push_back(std::move(operand));
    return Flat(CallNode(offset, sign == Token::kNot ? "!_" : "-_", std::move(arguments)), below);
  }

  ExprPtr ParseMember() {
    ExprPtr expr = ParsePrimary();
    while (true) {
      const Offset offset = Here();
      if (Take(Token::kDot)) {
        expr = ParseSelection(std::move(expr), offset);
      } else if (Take(Token::kLeftBracket)) {
        const bool optional = Take(Token::kQuestion);
        std::vector<ExprPtr> arguments;
        arguments.push_back(std::move(expr));
        arguments.push_back(ParseExpr());
        Expect(Token::kRightBracket);
        const std::uint32_t below = NestingOf(arguments);
        expr = Nested(CallNode(offset, optional ? "_[?_]" : "_[_]", std::move(arguments)), below);
      } else {
        return expr;
      }
    }
  }

  // What follows a dot.
  ExprPtr ParseSelection(ExprPtr operand, Offset dot) {
    const std::uint32_t below = operand->nesting;
    const bool optional = Take(Token::kQuestion);
    const TokenSpan name = Current();
    if (name.token != Token::kIdentifier && name.token != Token::kEscapedIdentifier) {
      Unexpected();
      return operand;
    }
    ++at_;
    const bool escaped = name.token == Token::kEscapedIdentifier;
    std::string field = Text(name);
    if (escaped) field = field.substr(1, field.size() - 2);
    if (optional) {
      std::vector<ExprPtr> arguments;
      arguments.push_back(std::move(operand));
      arguments.push_back(LiteralNode(name.offset, Value::String(std::move(field))));
      return Nested(CallNode(dot, "_?._", std::move(arguments)), below);
    }
    if (!escaped && Peek() == Token::kLeftParen)
      return ParseCall(std::move(field), std::move(operand), below);
    auto select = std::make_unique<Expr>();
    select->kind = Expr::Kind::kSelect;
    select->offset = dot;
    select->operand = std::move(operand);
    select->name = std::move(field);
    return Nested(std::move(select), below);
  }

  // At the parenthesis. target is null for a global function.
  ExprPtr ParseCall(std::string name, ExprPtr target, std::uint32_t below) {
    const Offset offset = Here();
    Expect(Token::kLeftParen);
    std::vector<ExprPtr> arguments;
    if (Peek() != Token::kRightParen) {
      do {
        arguments.push_back(ParseExpr());
      } while (Take(Token::kComma));
    }
    Expect(Token::kRightParen);
    below = std::max(below, NestingOf(arguments));
    const bool method = target != nullptr;
    if (broken_) return LiteralNode(offset, Value());
    ExprPtr call = ExpandMacro(name, offset, target, arguments, issues_);
    if (call == nullptr) {
      call = CallNode(offset, std::move(name), std::move(arguments));
      call->operand = std::move(target);
    }
    return method ? Nested(std::move(call), below) : Flat(std::move(call), below);
  }

  ExprPtr ParsePrimary() {
    const TokenSpan span = Current();
    switch (span.token) {
      case Token::kDot:
      case Token::kIdentifier:
        return ParseName();
      case Token::kLeftParen: {
        ++at_;
        ExprPtr expr = ParseExpr();
        Expect(Token::kRightParen);
        return expr;
      }
      case Token::kLeftBracket:
        return ParseList();
      case Token::kLeftBrace:
        return ParseMap();
      default:
        return ParseLiteral();
    }
  }

  ExprPtr ParseName() {
    const Offset offset = Here();
    const bool leading_dot = Take(Token::kDot);
    if (const auto name = TakeMessageName()) return ParseMessage((leading_dot ? "." : "") + *name);
    if (Peek() != Token::kIdentifier) {
      Unexpected();
      return LiteralNode(offset, Value());
    }
    const Offset name_offset = Here();
    std::string name = Text(Current());
    ++at_;
    const bool reserved = std::find(kReserved.begin(), kReserved.end(), name) != kReserved.end();
    if (reserved) issues_.push_back({offset, "reserved identifier: " + name});
    if (leading_dot) name.insert(0, ".");
    if (Peek() == Token::kLeftParen) return ParseCall(std::move(name), nullptr, 0);
    return NameNode(name_offset, std::move(name));
  }

  // "a.b.C" if a brace follows; else the position stays.
  std::optional<std::string> TakeMessageName() {
    std::size_t ahead = 0;
    std::string name;
    while (Peek(ahead) == Token::kIdentifier) {
      name += Text(tokens_[at_ + ahead]);
      ++ahead;
      if (Peek(ahead) == Token::kLeftBrace) {
        at_ += ahead;
        return name;
      }
      if (Peek(ahead) != Token::kDot) break;
      name += '.';
      ++ahead;
    }
    return std::nullopt;
  }

  ExprPtr ParseMessage(std::string name) {
    auto message = std::make_unique<Expr>();
    message->kind = Expr::Kind::kMessage;
    message->offset = Here();
    message->name = std::move(name);
    Expect(Token::kLeftBrace);
    while (Peek() != Token::kRightBrace && Peek() != Token::kComma && !broken_) {
      message->optional.push_back(Take(Token::kQuestion));
      const TokenSpan field = Current();
      if (field.token != Token::kIdentifier && field.token != Token::kEscapedIdentifier) {
        Unexpected();
        break;
      }
      ++at_;
      std::string text = Text(field);
      if (field.token == Token::kEscapedIdentifier) text = text.substr(1, text.size() - 2);
      message->fields.push_back(std::move(text));
      message->field_offsets.push_back(Here());
      Expect(Token::kColon);
      message->arguments.push_back(ParseExpr());
      if (Peek() != Token::kComma || Peek(1) == Token::kRightBrace) break;
      ++at_;
      if (Peek() == Token::kComma) Unexpected();
    }
    Take(Token::kComma);
    Expect(Token::kRightBrace);
    const std::uint32_t below = NestingOf(message->arguments);
    return Flat(std::move(message), below);
  }

  ExprPtr ParseList() {
    auto list = std::make_unique<Expr>();
    list->kind = Expr::Kind::kList;
    list->offset = Here();
    ++at_;
    if (Peek() != Token::kRightBracket && Peek() != Token::kComma) {
      do {
        list->optional.push_back(Take(Token::kQuestion));
        list->arguments.push_back(ParseExpr());
      } while (Peek(1) != Token::kRightBracket && Take(Token::kComma));
    }
    Take(Token::kComma);
    Expect(Token::kRightBracket);
    const std::uint32_t below = NestingOf(list->arguments);
    return Flat(std::move(list), below);
  }

  ExprPtr ParseMap() {
    auto map = std::make_unique<Expr>();
    map->kind = Expr::Kind::kMap;
    map->offset = Here();
    ++at_;
    if (Peek() != Token::kRightBrace && Peek() != Token::kComma) {
      do {
        map->optional.push_back(Take(Token::kQuestion));
        map->arguments.push_back(ParseExpr());
        Expect(Token::kColon);
        map->arguments.push_back(ParseExpr());
      } while (Peek(1) != Token::kRightBrace && Take(Token::kComma));
    }
    Take(Token::kComma);
    Expect(Token::kRightBrace);
    const std::uint32_t below = NestingOf(map->arguments);
    return Flat(std::move(map), below);
  }

  ExprPtr ParseLiteral() {
    const Offset offset = Here();
    const bool negative = Peek() == Token::kMinus;
    if (negative) {
      ++at_;
      if (Peek() != Token::kInt && Peek() != Token::kDouble) {
        Unexpected();
        return LiteralNode(offset, Value());
      }
    }
    const TokenSpan span = Current();
    const std::string text = (negative ? "-" : "") + Text(span);
    base::Result<Value> value = Value();
    switch (span.token) {
      case Token::kInt:
        value = ParseIntLiteral(text);
        break;
      case Token::kUint:
        value = ParseUintLiteral(text);
        break;
      case Token::kDouble:
        value = ParseDoubleLiteral(text);
        break;
      case Token::kString:
        value = ParseStringLiteral(Text32(span));
        break;
      case Token::kBytes:
        value = ParseBytesLiteral(Text32(span));
        break;
      case Token::kTrue:
      case Token::kFalse:
        value = Value::Bool(span.token == Token::kTrue);
        break;
      case Token::kNull:
        break;
      default:
        Unexpected();
        return LiteralNode(offset, Value());
    }
    ++at_;
    if (!value) return Mistake(offset, value.error().message);
    return LiteralNode(offset, std::move(*value));
  }

  const Source& source_;
  std::vector<Issue>& issues_;
  std::vector<TokenSpan> tokens_;
  std::size_t at_ = 0;
  std::uint32_t depth_ = 0;
  bool broken_ = false;
};

}  // namespace

ExprPtr Parse(const Source& source, std::vector<Issue>& issues) {
  if (source.text().size() > kCodePointsMax) {
    issues.push_back({kNowhere, fmt::format("expression code point size exceeds limit: size: {}, limit {}",
                                            source.text().size(), kCodePointsMax)});
    return LiteralNode(0, Value());
  }
  return Parser(source, issues).Run();
}

}  // namespace berth::cel
