#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cel/source.h"

namespace berth::cel {

enum class Token : std::uint8_t {
  kEnd,
  kIdentifier,
  kEscapedIdentifier,  // `a-b`
  kInt,
  kUint,
  kDouble,
  kString,
  kBytes,
  kTrue,
  kFalse,
  kNull,
  kIn,
  kEquals,
  kNotEquals,
  kLess,
  kLessEquals,
  kGreater,
  kGreaterEquals,
  kAnd,
  kOr,
  kLeftBracket,
  kRightBracket,
  kLeftBrace,
  kRightBrace,
  kLeftParen,
  kRightParen,
  kDot,
  kComma,
  kMinus,
  kNot,
  kQuestion,
  kColon,
  kPlus,
  kStar,
  kSlash,
  kPercent,
};

struct TokenSpan {
  Token token = Token::kEnd;
  Offset offset = 0;
  Offset length = 0;
};

// The tokens, kEnd last. What is no token becomes an issue and is left out, so that the parser can go on and
// report an earlier mistake.
std::vector<TokenSpan> Tokenize(const Source& source, std::vector<Issue>& issues);

// How error messages show a token.
std::string TokenText(const Source& source, const TokenSpan& span);

}  // namespace berth::cel
