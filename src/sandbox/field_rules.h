#pragma once

#include <boost/json/fwd.hpp>
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/document.h"
#include "sandbox/validation.h"

// Rules that fields of many kinds share, with the API server's words (validation.h). `field` is the whole
// path of what is checked. Values that are absent or of another type than expected are let pass: decoding has
// refused the wrong types, and whether something may be absent is for the caller to know.
namespace berth::sandbox {

void RequireField(FieldErrorList& errors, std::string_view field, std::string_view detail = "");
void ForbidField(FieldErrorList& errors, std::string_view field, std::string_view detail);
// One error for each of the problems of a text.
void AddProblems(FieldErrorList& errors, std::string_view field, std::string_view text,
                 std::span<const std::string> problems);

// Names of objects: "must be no more than 253 characters". The rule for labels says the same with bytes.
std::vector<std::string> NameProblems(std::string_view name);
std::vector<std::string> DnsLabelProblems(std::string_view name);
std::vector<std::string> ConfigKeyProblems(std::string_view key);

void CheckSubdomain(std::string_view text, std::string_view field, FieldErrorList& errors);
void CheckDnsLabel(std::string_view text, std::string_view field, FieldErrorList& errors);
// A label's key, and what else is named like one: gates, taints, topology keys.
void CheckLabelKey(std::string_view key, std::string_view field, FieldErrorList& errors);
// Errors name the map as a whole, as upstream's do.
void CheckLabels(const boost::json::object* labels, std::string_view field, FieldErrorList& errors);
void CheckLabelSelector(const boost::json::object* selector, const std::string& path, FieldErrorList& errors);

// A value of an enumeration, if it is there.
void CheckChoice(const boost::json::object& object, std::string_view key,
                 std::span<const std::string_view> choices, const std::string& path, FieldErrorList& errors);
void UnsupportedChoice(FieldErrorList& errors, std::string_view field, std::string_view value,
                       std::span<const std::string_view> choices);
// A number, if it is there.
void CheckNotNegative(const boost::json::object& object, std::string_view key, const std::string& path,
                      FieldErrorList& errors);
void CheckPort(std::int64_t port, std::string_view field, FieldErrorList& errors);

// Of two versions of an object.
bool Differs(const boost::json::object& a, const boost::json::object& b, Path path);
// A value as messages print it.
std::string Shown(const boost::json::object& document, Path path);
inline constexpr std::string_view kImmutable = "field is immutable";

// "" for what is no text.
std::string_view TextOf(const boost::json::value& value);
// The elements of the list that are objects, with their paths: "spec.containers[2]".
using ElementCheck = std::function<void(const boost::json::object& element, const std::string& path)>;
void ForEachElement(const boost::json::object& holder, std::string_view list, const std::string& path,
                    const ElementCheck& check);

}  // namespace berth::sandbox
