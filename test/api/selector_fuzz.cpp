#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "api/field_selector.h"
#include "api/label_selector.h"
#include "base/check.h"

// Selectors come in URLs from anybody. Whatever is accepted must print in a form that is accepted and means
// the same.
namespace berth::api {
namespace {

void CheckLabels(std::string_view text) {
  const auto selector = Selector::Parse(text);
  if (!selector) {
    BERTH_CHECK(!selector.error().message.empty());
    return;
  }
  const auto again = Selector::Parse(selector->ToString());
  BERTH_CHECK(again.has_value());
  BERTH_CHECK(*again == *selector);
  if (const auto pair = selector->RequiredPair()) {
    BERTH_CHECK(!selector->Matches(StringMap{}));
    BERTH_CHECK(selector->RequiredValue(pair->key).has_value());
  }
}

void CheckFields(std::string_view text) {
  const auto selector = FieldSelector::Parse(text);
  if (!selector) {
    BERTH_CHECK(!selector.error().message.empty());
    return;
  }
  // Printing writes "==" as "=", which can change the order of the parts.
  const auto again = FieldSelector::Parse(selector->ToString());
  BERTH_CHECK(again.has_value());
  const auto want = selector->requirements();
  const auto got = again->requirements();
  BERTH_CHECK(std::is_permutation(got.begin(), got.end(), want.begin(), want.end()));
}

}  // namespace
}  // namespace berth::api

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  berth::api::CheckLabels(text);
  berth::api::CheckFields(text);
  return 0;
}
