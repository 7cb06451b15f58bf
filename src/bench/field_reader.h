#pragma once

// house: heavy-include: values are members here, and the precompiled header of this room has it
#include <boost/json.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace berth::bench {

// Takes the fields of one JSON object as Go's strict decoding does: keys match in any case, a key that
// nobody took is an error. A number or boolean where text is wanted becomes its text, as YAML users expect.
//
// The first error is kept and told by Finish(), so that a list of fields reads as one.
class FieldReader {
 public:
  // Fails at Finish() if the value is no object. `value` outlives it.
  explicit FieldReader(const boost::json::value& value);

  // The value of the field, or null if it is absent or null.
  const boost::json::value* Take(std::string_view name);

  void Read(std::string_view name, std::string& out);
  void Read(std::string_view name, std::optional<std::string>& out);
  void Read(std::string_view name, bool& out);
  void Read(std::string_view name, std::int64_t& out);
  void Read(std::string_view name, std::optional<std::int64_t>& out);
  void Read(std::string_view name, std::vector<std::string>& out);
  void Read(std::string_view name, std::map<std::string, std::string>& out);
  void Read(std::string_view name, std::map<std::string, bool>& out);
  void Read(std::string_view name, boost::json::object& out);

  // Says of a field that something is wrong with it.
  void Refuse(std::string_view name, std::string_view why);

  base::Result<void> Finish();

 private:
  template <class T>
  void ReadWith(std::string_view name, T& out, std::optional<T> (*convert)(const boost::json::value&),
                std::string_view wanted);

  const boost::json::object* object_ = nullptr;
  std::set<std::string, std::less<>> taken_;
  std::optional<base::Error> error_;
};

// The error of a field: field "name": why.
std::unexpected<base::Error> FailIn(std::string_view field, std::string_view why);

// Text, or the text of a number or boolean.
std::optional<std::string> TextOf(const boost::json::value& value);

}  // namespace berth::bench
