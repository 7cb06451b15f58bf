#include "framework/status.h"

#include "fmt/format.h"
#include "fmt/ranges.h"

#include "base/check.h"

namespace berth::framework {

std::string_view CodeName(Code code) {
  switch (code) {
    case Code::kSuccess:
      return "Success";
    case Code::kError:
      return "Error";
    case Code::kUnschedulable:
      return "Unschedulable";
    case Code::kUnschedulableAndUnresolvable:
      return "UnschedulableAndUnresolvable";
    case Code::kWait:
      return "Wait";
    case Code::kSkip:
      return "Skip";
    case Code::kPending:
      return "Pending";
  }
  BERTH_CHECK(false && "a code without a name");
}

Status Status::Error(std::string message) { return {Code::kError, std::move(message)}; }

std::string Status::Message() const { return fmt::format("{}", fmt::join(reasons_, ", ")); }

std::string Status::AsError() const {
  return IsSuccess() || IsSkip() || IsWait() ? std::string() : Message();
}

}  // namespace berth::framework
