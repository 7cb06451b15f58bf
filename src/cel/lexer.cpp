#include "cel/lexer.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

#include "fmt/format.h"

#include "cel/utf8.h"

namespace berth::cel {
namespace {

bool IsDigit(char32_t c) { return c >= U'0' && c <= U'9'; }
bool IsLetter(char32_t c) { return (c >= U'a' && c <= U'z') || (c >= U'A' && c <= U'Z'); }
bool IsHexDigit(char32_t c) { return IsDigit(c) || (c >= U'a' && c <= U'f') || (c >= U'A' && c <= U'F'); }
bool IsName(char32_t c) { return IsLetter(c) || IsDigit(c) || c == U'_'; }

struct Symbol {
  std::u32string_view text;
  Token token;
};

// Longer ones before their prefixes.
constexpr std::array kSymbols = {
    Symbol{U"==", Token::kEquals},        Symbol{U"!=", Token::kNotEquals}, Symbol{U"<=", Token::kLessEquals},
    Symbol{U">=", Token::kGreaterEquals}, Symbol{U"&&", Token::kAnd},       Symbol{U"||", Token::kOr},
    Symbol{U"<", Token::kLess},           Symbol{U">", Token::kGreater},    Symbol{U"[", Token::kLeftBracket},
    Symbol{U"]", Token::kRightBracket},   Symbol{U"{", Token::kLeftBrace},  Symbol{U"}", Token::kRightBrace},
    Symbol{U"(", Token::kLeftParen},      Symbol{U")", Token::kRightParen}, Symbol{U".", Token::kDot},
    Symbol{U",", Token::kComma},          Symbol{U"-", Token::kMinus},      Symbol{U"!", Token::kNot},
    Symbol{U"?", Token::kQuestion},       Symbol{U":", Token::kColon},      Symbol{U"+", Token::kPlus},
    Symbol{U"*", Token::kStar},           Symbol{U"/", Token::kSlash},      Symbol{U"%", Token::kPercent},
};

class Lexer {
 public:
  explicit Lexer(const Source& source, std::vector<Issue>& issues) : text_(source.text()), issues_(issues) {}

  std::vector<TokenSpan> Run() {
    while (SkipBlank(), at_ < text_.size()) Next();
    tokens_.push_back({Token::kEnd, static_cast<Offset>(text_.size()), 0});
    return std::move(tokens_);
  }

 private:
  char32_t Peek(std::size_t position) const { return position < text_.size() ? text_[position] : U'\0'; }

  void SkipBlank() {
    while (at_ < text_.size()) {
      if (std::u32string_view(U"\t \r\n\f").contains(text_[at_])) {
        ++at_;
      } else if (text_.substr(at_).starts_with(U"//")) {
        at_ = std::min(text_.find(U'\n', at_), text_.size());
      } else {
        return;
      }
    }
  }

  void Emit(Token token, std::size_t end) {
    tokens_.push_back({token, static_cast<Offset>(at_), static_cast<Offset>(end - at_)});
    at_ = end;
  }

  void Next() {
    const char32_t c = text_[at_];
    if (const auto end = StringEnd(at_)) return Emit(Token::kString, *end);
    if (c == U'b' || c == U'B') {
      if (const auto end = StringEnd(at_ + 1)) return Emit(Token::kBytes, *end);
    }
    if (IsDigit(c) || (c == U'.' && IsDigit(Peek(at_ + 1)))) return Number();
    if (IsLetter(c) || c == U'_') return Word();
    if (c == U'`') {
      if (const auto end = EscapedIdentifierEnd()) return Emit(Token::kEscapedIdentifier, *end);
      return Refuse(RefusedLength());
    }
    for (const Symbol& symbol : kSymbols) {
      if (text_.substr(at_).starts_with(symbol.text)) return Emit(symbol.token, at_ + symbol.text.size());
    }
    Refuse(RefusedLength());
  }

  void Word() {
    std::size_t end = at_;
    while (IsName(Peek(end))) ++end;
    const std::u32string_view word = text_.substr(at_, end - at_);
    if (word == U"true") return Emit(Token::kTrue, end);
    if (word == U"false") return Emit(Token::kFalse, end);
    if (word == U"null") return Emit(Token::kNull, end);
    if (word == U"in") return Emit(Token::kIn, end);
    Emit(Token::kIdentifier, end);
  }

  void Number() {
    if (text_[at_] == U'0' && Peek(at_ + 1) == U'x' && IsHexDigit(Peek(at_ + 2))) {
      std::size_t end = at_ + 2;
      while (IsHexDigit(Peek(end))) ++end;
      return EndOfInteger(end);
    }
    std::size_t end = at_;
    while (IsDigit(Peek(end))) ++end;
    bool floating = false;
    if (Peek(end) == U'.' && IsDigit(Peek(end + 1))) {
      floating = true;
      ++end;
      while (IsDigit(Peek(end))) ++end;
    }
    if (Peek(end) == U'e' || Peek(end) == U'E') {
      std::size_t exponent = end + 1;
      if (Peek(exponent) == U'+' || Peek(exponent) == U'-') ++exponent;
      if (IsDigit(Peek(exponent))) {
        floating = true;
        end = exponent;
        while (IsDigit(Peek(end))) ++end;
      }
    }
    if (floating) return Emit(Token::kDouble, end);
    EndOfInteger(end);
  }

  void EndOfInteger(std::size_t end) {
    if (Peek(end) == U'u' || Peek(end) == U'U') return Emit(Token::kUint, end + 1);
    Emit(Token::kInt, end);
  }

  std::optional<std::size_t> EscapedIdentifierEnd() const {
    std::size_t end = at_ + 1;
    while (IsName(Peek(end)) || std::u32string_view(U".-/ ").contains(Peek(end))) ++end;
    if (end == at_ + 1 || Peek(end) != U'`') return std::nullopt;
    return end + 1;
  }

  // The end of the string literal that starts there, if one does.
  std::optional<std::size_t> StringEnd(std::size_t start) const {
    const bool raw = (Peek(start) == U'r' || Peek(start) == U'R');
    const std::size_t open = raw ? start + 1 : start;
    const char32_t quote = Peek(open);
    if (quote != U'"' && quote != U'\'') return std::nullopt;
    if (Peek(open + 1) == quote && Peek(open + 2) == quote) {
      if (const auto end = LiteralEnd(open + 3, std::u32string(3, quote), raw)) return end;
    }
    return LiteralEnd(open + 1, std::u32string(1, quote), raw);
  }

  std::optional<std::size_t> LiteralEnd(std::size_t position, const std::u32string& quote, bool raw) const {
    while (position < text_.size()) {
      const char32_t c = text_[position];
      if (text_.substr(position).starts_with(quote)) return position + quote.size();
      if (quote.size() == 1 && (c == U'\n' || c == U'\r')) return std::nullopt;
      if (c == U'\\' && !raw) {
        const std::size_t length = EscapeLength(position);
        if (length == 0) return std::nullopt;
        position += length;
      } else {
        ++position;
      }
    }
    return std::nullopt;
  }

  // 0: no escape sequence.
  std::size_t EscapeLength(std::size_t position) const {
    const std::size_t length = EscapePrefixLength(position);
    const char32_t c = Peek(position + 1);
    if (c == U'x' || c == U'X') return length == 4 ? length : 0;
    if (c == U'u') return length == 6 ? length : 0;
    if (c == U'U') return length == 10 ? length : 0;
    if (c >= U'0' && c <= U'3') return length == 4 ? length : 0;
    return length == 2 ? length : 0;
  }

  // How much of an escape sequence there is before something that does not belong to it.
  std::size_t EscapePrefixLength(std::size_t position) const {
    const char32_t c = Peek(position + 1);
    const auto digits = [&](std::size_t count, auto is_digit) {
      std::size_t length = 2;
      while (length < 2 + count && is_digit(Peek(position + length))) ++length;
      return length;
    };
    if (c == U'x' || c == U'X') return digits(2, IsHexDigit);
    if (c == U'u') return digits(4, IsHexDigit);
    if (c == U'U') return digits(8, IsHexDigit);
    if (c >= U'0' && c <= U'3')
      return digits(2, [](char32_t digit) { return digit >= U'0' && digit <= U'7'; });
    return c != U'\0' && std::u32string_view(U"abfnrtv\"'\\?`").contains(c) ? 2 : 1;
  }

  // What is skipped where no token starts: what could have been the start of one, and the character that it
  // is not.
  std::size_t RefusedLength() const {
    const char32_t c = text_[at_];
    std::size_t end = at_;
    if (c == U'=' || c == U'&' || c == U'|') {
      end = at_ + 1;
    } else if (c == U'`') {
      end = at_ + 1;
      while (IsName(Peek(end)) || std::u32string_view(U".-/ ").contains(Peek(end))) ++end;
    } else if (c == U'"' || c == U'\'') {
      end = at_ + 1;
      while (end < text_.size() && text_[end] != U'\n' && text_[end] != U'\r') {
        if (text_[end] != U'\\') {
          ++end;
          continue;
        }
        const bool complete = EscapeLength(end) > 0;
        end += EscapePrefixLength(end);
        if (!complete) break;
      }
    }
    return std::min(end + 1, text_.size()) - at_;
  }

  void Refuse(std::size_t length) {
    issues_.push_back({static_cast<Offset>(at_), fmt::format("Syntax error: token recognition error at: '{}'",
                                                             Encode(text_.substr(at_, length)))});
    at_ += length;
  }

  std::u32string_view text_;
  std::vector<Issue>& issues_;
  std::vector<TokenSpan> tokens_;
  std::size_t at_ = 0;
};

}  // namespace

std::vector<TokenSpan> Tokenize(const Source& source, std::vector<Issue>& issues) {
  return Lexer(source, issues).Run();
}

std::string TokenText(const Source& source, const TokenSpan& span) {
  if (span.token == Token::kEnd) return "<EOF>";
  return "'" + Encode(std::u32string_view(source.text()).substr(span.offset, span.length)) + "'";
}

}  // namespace berth::cel
