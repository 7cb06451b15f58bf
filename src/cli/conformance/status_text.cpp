#include "cli/conformance/status_text.h"

#include <algorithm>
#include <boost/json.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/conformance/case_json.h"

namespace berth::cli {
namespace {

std::string Sentence(std::string_view code, std::string_view plugin, std::vector<std::string> reasons) {
  std::ranges::sort(reasons);
  return fmt::format("{} by \"{}\": {}", code, plugin, reasons);
}

}  // namespace

std::string StatusText(const framework::Status& status) {
  return Sentence(framework::CodeName(status.code()), status.plugin(), status.reasons());
}

std::string StatusText(const boost::json::object& status) {
  return Sentence(TextAt(status, "code"), TextAt(status, "plugin"), TextsAt(status, "reasons"));
}

}  // namespace berth::cli
