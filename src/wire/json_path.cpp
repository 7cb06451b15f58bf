#include "wire/json_path.h"

#include <algorithm>
#include <fmt/format.h>

#include "base/go_text.h"

namespace berth::wire {
namespace {

constexpr std::size_t kStrictErrorsMax = 100;

}  // namespace

std::string JsonPath::ToString() const {
  std::string out;
  for (const Part& part : steps_) {
    if (part.index == kField) {
      if (!out.empty()) out += '.';
      out += part.key;
    } else if (part.index == kMapKey) {
      out += fmt::format("[{}]", part.key);
    } else {
      out += fmt::format("[{}]", part.index);
    }
  }
  return out;
}

std::string JsonPath::StrictPath(std::string_view key) const {
  std::string out;
  for (const Part& part : steps_) {
    if (part.index == kField || part.index == kMapKey) {
      if (!out.empty()) out += '.';
      out += part.key;
    } else {
      out += fmt::format("[{}]", part.index);
    }
  }
  if (!out.empty()) out += '.';
  return out.append(key);
}

void StrictErrors::Add(std::string_view what, std::string path) {
  if (errors_.size() >= kStrictErrorsMax) return;
  std::string error = fmt::format("{} {}", what, base::QuoteGo(path));
  if (std::ranges::find(errors_, error) == errors_.end()) errors_.push_back(std::move(error));
}

std::string StrictErrors::ToString() const {
  return fmt::format("strict decoding error: {}", fmt::join(errors_, ", "));
}

}  // namespace berth::wire
