#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace berth::cel {

// A place in an expression, in code points from its start.
using Offset = std::uint32_t;
// For messages about the expression as a whole.
inline constexpr Offset kNowhere = std::numeric_limits<Offset>::max();

struct Issue {
  Offset offset = 0;
  std::string message;
};

// The text of an expression with its lines.
class Source {
 public:
  explicit Source(std::string_view text);

  const std::u32string& text() const { return text_; }
  // Issues in the order of their place, each with the line it stands on and a mark below:
  //   ERROR: <input>:1:5: undefined field 'x'
  //    | a.x
  //    | ....^
  std::string Describe(std::vector<Issue> issues) const;

 private:
  std::string Describe(const Issue& issue) const;

  std::u32string text_;
  std::vector<std::size_t> line_starts_;
};

}  // namespace berth::cel
