#include "cli/version.h"

namespace berth::cli {

std::string_view Version() { return "0.1.0"; }
std::string_view KubernetesVersion() { return "v1.37.1"; }

}  // namespace berth::cli
