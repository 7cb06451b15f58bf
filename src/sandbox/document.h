#pragma once

#include <boost/json/fwd.hpp>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

// Reading and writing fields of JSON documents by path. Documents come from outside: whatever is not there,
// or is of another type than expected, reads as absent.
namespace berth::sandbox {

using Path = std::initializer_list<std::string_view>;

// The value at the path, or null.
const boost::json::value* FindValue(const boost::json::object& document, Path path);
const boost::json::object* FindObject(const boost::json::object& document, Path path);
boost::json::object* FindObject(boost::json::object& document, Path path);
const boost::json::array* FindArray(const boost::json::object& document, Path path);
boost::json::array* FindArray(boost::json::object& document, Path path);

// Absent reads "", 0, false.
std::string_view TextAt(const boost::json::object& document, Path path);
std::int64_t NumberAt(const boost::json::object& document, Path path);
bool FlagAt(const boost::json::object& document, Path path);
std::optional<std::int64_t> FindNumber(const boost::json::object& document, Path path);

// The object at the path, made with everything above it where it is absent or no object.
boost::json::object& ObjectAt(boost::json::object& document, Path path);
// The same for a list.
boost::json::array& ArrayAt(boost::json::object& document, Path path);
// Sets the member unless it is there.
void SetDefault(boost::json::object& object, std::string_view key, boost::json::value value);
void RemoveAt(boost::json::object& document, Path path);

std::string_view ViewOf(const boost::json::string& text);

}  // namespace berth::sandbox
