#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"
#include "cel/value.h"

namespace re2 {
class RE2;
}  // namespace re2

namespace berth::cel {

// A regular expression as Go's regexp package takes it: RE2's syntax, with "(?<name>" and without "\C".
class Regex {
 public:
  // The error is Go's: "error parsing regexp: missing closing ): `(`".
  static base::Result<std::shared_ptr<const Regex>> Compile(std::string_view pattern);

  ~Regex();
  Regex(const Regex&) = delete;
  Regex& operator=(const Regex&) = delete;

  // Anywhere in the text.
  bool Matches(std::string_view text) const;
  // The first match, "" if there is none.
  std::string Find(std::string_view text) const;
  // At most count matches, all if count is negative.
  List FindAll(std::string_view text, std::int64_t count) const;

 private:
  explicit Regex(std::unique_ptr<re2::RE2> compiled);

  std::unique_ptr<re2::RE2> compiled_;
};

}  // namespace berth::cel
