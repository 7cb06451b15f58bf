#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace berth::config {

// encoding/base64's StdEncoding: padding is required, line breaks are skipped. Errors are Go's: they name the
// byte where the text stops to be base64.
base::Result<std::string> DecodeBase64(std::string_view text);
std::string EncodeBase64(std::string_view bytes);

}  // namespace berth::config
