#include "api/tolerations.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <system_error>

namespace berth::api {
namespace {

// Only the one way to write a number counts: no plus sign, no leading zero, no "-0".
std::optional<std::int64_t> ParseCanonicalInteger(std::string_view text) {
  const std::string_view digits = text.starts_with('-') ? text.substr(1) : text;
  if (digits.starts_with('0') && text != "0") return std::nullopt;
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

bool Tolerates(const Toleration& toleration, const Taint& taint, bool comparison_operators) {
  if (!toleration.effect.empty() && toleration.effect != taint.effect) return false;
  if (!toleration.key.empty() && toleration.key != taint.key) return false;

  const std::string_view op = toleration.operator_;
  if (op.empty() || op == "Equal") return toleration.value == taint.value;
  if (op == "Exists") return true;
  if (!comparison_operators || (op != "Gt" && op != "Lt")) return false;
  const auto bound = ParseCanonicalInteger(toleration.value);
  const auto number = ParseCanonicalInteger(taint.value);
  if (!bound || !number) return false;
  return op == "Gt" ? *number > *bound : *number < *bound;
}

bool Tolerates(std::span<const Toleration> tolerations, const Taint& taint, bool comparison_operators) {
  return std::ranges::any_of(tolerations, [&](const Toleration& toleration) {
    return Tolerates(toleration, taint, comparison_operators);
  });
}

const Taint* FindUntolerated(std::span<const Toleration> tolerations, std::span<const Taint> taints,
                             std::span<const std::string_view> effects, bool comparison_operators) {
  for (const Taint& taint : taints) {
    if (std::ranges::find(effects, taint.effect) == effects.end()) continue;
    if (!Tolerates(tolerations, taint, comparison_operators)) return &taint;
  }
  return nullptr;
}

std::size_t CountIntolerablePreferNoSchedule(std::span<const Toleration> tolerations,
                                             std::span<const Taint> taints, bool comparison_operators) {
  return static_cast<std::size_t>(std::ranges::count_if(taints, [&](const Taint& taint) {
    return taint.effect == kPreferNoSchedule && !Tolerates(tolerations, taint, comparison_operators);
  }));
}

}  // namespace berth::api
