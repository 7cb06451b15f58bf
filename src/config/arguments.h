#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "config/plugin_arguments.h"

// What there is to know about the kinds of arguments: a plugin NAME has the kind NAMEArgs, or none.
namespace berth::config {

// Empty arguments of the plugin's kind; nothing if this room knows no such kind.
std::optional<PluginArguments> EmptyArguments(std::string_view plugin_name);

// The name of the plugin whose arguments are of this kind; empty if the kind is not known.
std::string_view PluginOfArgumentsKind(std::string_view kind);

}  // namespace berth::config
