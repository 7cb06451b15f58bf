#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "api/quantity.h"
#include "base/check.h"

// Quantities come in every object from anybody. Whatever is accepted must be written in a form that reads
// back as the same number, and no text may cost more than its length.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using berth::api::Quantity;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto quantity = Quantity::Parse(text);
  if (!quantity) {
    BERTH_CHECK(!Quantity::ParseErrorText(quantity.error()).empty());
    return 0;
  }
  const auto kept = Quantity::Parse(quantity->ToString());
  BERTH_CHECK(kept.has_value() && *kept == *quantity);
  BERTH_CHECK(kept->Hash() == quantity->Hash());

  const std::string canonical = quantity->Canonical();
  const auto again = Quantity::Parse(canonical);
  BERTH_CHECK(again.has_value() && *again == *quantity);
  BERTH_CHECK(again->Canonical() == canonical);

  // Twice the number less the number is the number, unless it had to be rounded.
  Quantity sum = *quantity;
  sum.Add(*quantity);
  sum.Sub(*quantity);
  if (size < static_cast<std::size_t>(Quantity::kDigitsMax)) BERTH_CHECK(sum == *quantity);
  Quantity rounded = *quantity;
  rounded.RoundUp(-3);
  BERTH_CHECK(rounded.Compare(*quantity) * quantity->Sign() >= 0);
  BERTH_CHECK(rounded.MilliValue() == quantity->MilliValue());
  static_cast<void>(quantity->AsApproximateFloat());
  return 0;
}
