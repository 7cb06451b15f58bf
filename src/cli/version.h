#pragma once

#include <string_view>

namespace berth::cli {

// berth's own version, and the kube-scheduler whose decisions it makes.
std::string_view Version();
std::string_view KubernetesVersion();

}  // namespace berth::cli
