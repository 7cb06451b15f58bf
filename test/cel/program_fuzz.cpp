// Programs against devices: the bytes choose a device and an expression that mostly compiles. Whatever they
// are, the outcome is the same each time, and no evaluation uses more than its budget.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/check.h"
#include "cel/compiler.h"

namespace berth::cel {
namespace {

// Zeros when they are used up, so that every choice ends.
class Choices {
 public:
  explicit Choices(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

  std::uint8_t Next() {
    if (at_ == bytes_.size()) return 0;
    return bytes_[at_++];
  }
  std::size_t Below(std::size_t count) { return Next() % count; }
  template <std::size_t Size>
  std::string Of(const std::array<std::string_view, Size>& texts) {
    return std::string(texts[Below(Size)]);
  }
  bool IsEmpty() const { return at_ == bytes_.size(); }

 private:
  std::span<const std::uint8_t> bytes_;
  std::size_t at_ = 0;
};

constexpr std::array<std::string_view, 8> kNames = {"b",  "i",  "s",  "v",
                                                    "is", "ss", "vs", "other.example.com/x"};
constexpr std::array<std::string_view, 8> kTexts = {"",           "a",   "fish", "1.2.3", "\u65e5\u672c",
                                                    "10.0.0.0/8", "1Gi", "x/y"};
constexpr std::array<std::string_view, 6> kVersions = {"0.0.0",       "1.2.3", "1.2.3-rc.1+b",
                                                       "9999999.0.0", "1.x.0", ""};
constexpr std::array<std::string_view, 6> kQuantities = {"0", "1", "1Gi", "500m", "-3", "9Ei"};

api::DeviceAttribute AnyAttribute(Choices& choices) {
  api::DeviceAttribute attribute;
  const std::size_t count = choices.Below(5);
  switch (choices.Below(9)) {
    case 0:
      attribute.bool_value = choices.Below(2) == 1;
      break;
    case 1:
      attribute.int_value = static_cast<std::int64_t>(choices.Next()) << choices.Below(57);
      break;
    case 2:
      attribute.string_value = choices.Of(kTexts);
      break;
    case 3:
      attribute.version = choices.Of(kVersions);
      break;
    case 4:
      for (std::size_t i = 0; i < count; ++i) attribute.ints.push_back(choices.Next());
      break;
    case 5:
      for (std::size_t i = 0; i < count; ++i) attribute.bools.push_back(choices.Below(2) == 1);
      break;
    case 6:
      for (std::size_t i = 0; i < count; ++i) attribute.strings.push_back(choices.Of(kTexts));
      break;
    case 7:
      for (std::size_t i = 0; i < count; ++i) attribute.versions.push_back(choices.Of(kVersions));
      break;
    default:
      break;
  }
  return attribute;
}

api::Device AnyDevice(Choices& choices) {
  api::Device device;
  for (std::size_t i = choices.Below(6); i > 0; --i) {
    device.attributes[choices.Of(kNames)] = AnyAttribute(choices);
  }
  for (std::size_t i = choices.Below(3); i > 0; --i) {
    device.capacity[choices.Of(kNames)].value = api::Quantity::Parse(choices.Of(kQuantities)).value();
  }
  if (choices.Below(2) == 1) device.allow_multiple_allocations = true;
  return device;
}

std::string Replaced(std::string text, std::string_view mark, const std::string& by) {
  for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at + by.size())) {
    text.replace(at, mark.size(), by);
  }
  return text;
}

// X and Y stand for expressions, N for a name that a macro gives.
constexpr std::array<std::string_view, 56> kForms = {"true",
                                                     "false",
                                                     "N",
                                                     "1",
                                                     "2u",
                                                     "1.5",
                                                     "\"fish\"",
                                                     "b\"\\xff\"",
                                                     "null",
                                                     "[]",
                                                     "{}",
                                                     "[1, 2, 3]",
                                                     "device.driver",
                                                     "device.attributes",
                                                     "device.capacity",
                                                     "device.allowMultipleAllocations",
                                                     "device.attributes[\"d\"].i",
                                                     "device.attributes[\"d\"].s",
                                                     "device.attributes[\"d\"].is",
                                                     "device.attributes[\"d\"].?v",
                                                     "device.capacity[\"d\"].i",
                                                     "semver(\"1.2.3\")",
                                                     "quantity(\"1Gi\")",
                                                     "(X == Y)",
                                                     "(X != Y)",
                                                     "(X < Y)",
                                                     "(X && Y)",
                                                     "(X || Y)",
                                                     "(X ? Y : Y)",
                                                     "(X + Y)",
                                                     "(X - Y)",
                                                     "(X * Y)",
                                                     "(X / Y)",
                                                     "(X % Y)",
                                                     "!X",
                                                     "(X in Y)",
                                                     "dyn(X)",
                                                     "[dyn(X), dyn(Y)]",
                                                     "{\"a\": dyn(X)}",
                                                     "X[Y]",
                                                     "X.?a.orValue(Y)",
                                                     "X.size()",
                                                     "X.exists(N, Y)",
                                                     "X.all(N, Y)",
                                                     "X.map(N, Y)",
                                                     "X.filter(N, Y)",
                                                     "cel.bind(N, X, Y)",
                                                     "X.matches(\"a*\")",
                                                     "X.contains(Y)",
                                                     "X.split(\"\")",
                                                     "X.sort()",
                                                     "X.distinct()",
                                                     "X.compareTo(Y)",
                                                     "string(X)",
                                                     "\"%s\".format([X])",
                                                     "lists.range(X)"};

std::string AnyExpression(Choices& choices, int depth) {
  std::string form = choices.Of(kForms);
  if (form == "N") return choices.Below(2) == 0 ? "m" : "n";
  const bool has_parts = form.contains('X') || form.contains('Y');
  if (has_parts && (depth == 0 || choices.IsEmpty())) return "device.attributes[\"d\"].b";
  if (form.contains('N')) form = Replaced(form, "N", choices.Below(2) == 0 ? "m" : "n");
  // Marks that no form contains, so that parts are not taken for marks.
  form = Replaced(Replaced(form, "X", "\x01"), "Y", "\x02");
  if (form.contains('\x01')) form = Replaced(form, "\x01", AnyExpression(choices, depth - 1));
  if (form.contains('\x02')) form = Replaced(form, "\x02", AnyExpression(choices, depth - 1));
  return form;
}

void CheckOne(std::span<const std::uint8_t> bytes) {
  Choices choices(bytes);
  const DeviceView view("d", AnyDevice(choices));
  const std::string text = "dyn(" + AnyExpression(choices, 6) + ")";
  const auto program = CompileExpression(text, ExpressionKind::kSelector);
  if (!program) return;
  constexpr std::uint64_t kLimit = 20'000;
  const auto first = (*program)->Evaluate(view, {.cost_limit = kLimit});
  const auto second = (*program)->Evaluate(view, {.cost_limit = kLimit});
  BERTH_CHECK(first.value == second.value && first.cost == second.cost);
  const auto is_cancelled = [](const Evaluation<bool>& one) {
    return !one.value && one.value.error() == "operation cancelled: actual cost limit exceeded";
  };
  BERTH_CHECK((first.cost > kLimit) == is_cancelled(first));
  // A smaller budget only ever ends it earlier.
  const std::uint64_t small = choices.Below(100);
  const auto limited = (*program)->Evaluate(view, {.cost_limit = small});
  BERTH_CHECK(is_cancelled(limited) || limited.value == first.value);
}

}  // namespace
}  // namespace berth::cel

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  berth::cel::CheckOne({data, size});
  return 0;
}
