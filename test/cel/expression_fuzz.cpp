// Any text as an expression: it compiles or not, and if it does, it runs within its budget.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "cel/device_support.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace berth::cel;
  static const DeviceView kDevice("dra.example.com", MakeTestDevice());
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const ExpressionKind kind : {ExpressionKind::kSelector, ExpressionKind::kDerivedAttribute}) {
    const auto program = CompileExpression(text, kind);
    if (!program) continue;
    const Budget budget{.cost_limit = 20'000};
    if (kind == ExpressionKind::kSelector) {
      (*program)->Evaluate(kDevice, budget);
    } else {
      (*program)->EvaluateAttribute(kDevice, budget);
    }
  }
  return 0;
}
