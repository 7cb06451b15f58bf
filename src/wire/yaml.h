#pragma once

#include <boost/json/fwd.hpp>
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "wire/limits.h"

namespace berth::wire {

// YAML as Kubernetes reads it: YAML 1.1 with the types of go-yaml v2 (yes and on are booleans, 010 is eight,
// dates stay strings), turned into JSON before anything looks at it.

struct YamlOptions {
  bool unique_keys = false;  // a repeated key is an error; otherwise the last one wins
  std::size_t bytes_max = kYamlBytesMax;
  std::size_t first_line = 1;  // what the first line is called in errors
};

// The first document of the text as JSON text with sorted keys; "null" if there is none. Keys that are
// numbers or booleans become strings, aliases and merge keys (<<) are followed, as far as that stays in
// proportion to the text. Errors name line and column.
base::Result<std::string> YamlToJson(std::string_view text, const YamlOptions& options = {});

struct YamlDocument {
  std::string_view text;
  std::size_t first_line = 1;
};

// The documents of a manifest, separated by lines that start with ---. Those with nothing but blanks and
// comments are left out.
base::Result<std::vector<YamlDocument>> SplitYaml(std::string_view text);

// Where values of the first document start: line by path, such as "profiles[0].plugins" (1 is the first line;
// a value that is reached through an alias or a merge key has none). For text that YamlToJson accepts; JSON
// is YAML, too.
std::map<std::string, std::size_t, std::less<>> FindYamlLines(std::string_view text);

// In block style with sorted keys, as kubectl prints it; read back by YamlToJson it is the same value.
std::string WriteYaml(const boost::json::value& value);

}  // namespace berth::wire
