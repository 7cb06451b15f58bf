#pragma once

#include <expected>
#include <string>
#include <string_view>

#include "config/configuration.h"
#include "config/problem.h"
#include "framework/features.h"

namespace berth::config {

// What could be read of a file, whatever is wrong with it.
struct Decoded {
  Configuration configuration;
  // Everything that is wrong, in no particular order; a message here may be shorter than kube-scheduler's.
  Problems problems;
  // What kube-scheduler says; empty if nothing is wrong.
  std::string error;
  // Whether it was a configuration at all, so that the rest of it can be looked at.
  bool is_configuration = false;
};
Decoded DecodeAll(std::string_view text);

// A file's text, YAML or JSON, strictly: unknown and repeated fields, wrong types and wrong kinds are errors,
// in kube-scheduler's words. Nothing is defaulted or checked yet.
std::expected<Configuration, Failure> Decode(std::string_view text);

// Decode and ApplyDefaults.
std::expected<Configuration, Failure> Load(std::string_view text, const framework::Features& features);

}  // namespace berth::config
