#pragma once

#include "framework/registry.h"

namespace berth::plugins {

// Every plugin that berth has, by the names that configurations use.
framework::Registry AllPlugins();

}  // namespace berth::plugins
