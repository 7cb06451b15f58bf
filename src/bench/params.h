#pragma once

// house: heavy-include: values are members here, and the precompiled header of this room has it
#include <boost/json.hpp>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/error.h"

namespace berth::bench {

// The parameters of a workload, and which of them its operations have asked for: one that nobody reads is a
// typing error. Numbers are floating point, as Go reads JSON of no known type.
class Params {
 public:
  Params() = default;
  explicit Params(boost::json::object values);

  // A number, cut off at its decimal point.
  base::Result<std::int64_t> Integer(std::string_view name);
  base::Result<bool> Flag(std::string_view name);
  base::Result<base::Duration> Duration(std::string_view name);
  // Null: there is no such parameter. A parameter may be null itself.
  const boost::json::value* Find(std::string_view name);

  // "$name" is the parameter of that name; "$name|default" is the default, read as YAML, where there is no
  // such parameter. Every other value is itself.
  base::Result<boost::json::value> Resolve(const boost::json::value& value);
  // All members of it.
  base::Result<boost::json::object> ResolveAll(const boost::json::object& template_params);

  // In the order of their names.
  std::vector<std::string> Unused() const;

 private:
  template <class Convert>
  auto Get(std::string_view name, Convert convert) -> base::Result<decltype(convert(boost::json::value()))>;

  boost::json::object values_;
  std::set<std::string, std::less<>> used_;
};

}  // namespace berth::bench
