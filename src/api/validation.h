#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// Rules for names and label values, and the wording of errors that name a field. Users and clients search for
// these texts: they are kube-apiserver's, to the letter.
namespace berth::api {

// What is wrong with the text, one message each; empty if nothing is. Nothing is allocated for a good text.
std::vector<std::string> LabelKeyProblems(std::string_view key);
std::vector<std::string> LabelValueProblems(std::string_view value);
std::vector<std::string> SubdomainProblems(std::string_view name);  // RFC 1123

// Where in an object a field is: "spec.affinity", "values[0]", "labels[app]". A path without steps reads
// "<nil>".
class FieldPath {
 public:
  FieldPath() = default;
  explicit FieldPath(std::string_view root) : text_(root) {}

  FieldPath Child(std::string_view name) const;
  FieldPath Index(std::size_t index) const;
  FieldPath Key(std::string_view key) const;

  std::string ToString() const { return text_.empty() ? "<nil>" : text_; }

 private:
  std::string text_;
};

// Complete messages, each about one field.
using FieldErrors = std::vector<std::string>;

std::string InvalidField(const FieldPath& path, std::string_view value, std::string_view detail);
std::string InvalidField(const FieldPath& path, std::span<const std::string> values, std::string_view detail);
// For a value of an enumeration. It is printed as JSON, as values of named types are.
std::string UnsupportedField(const FieldPath& path, std::string_view value,
                             std::span<const std::string_view> supported);

// Several messages as one: equal ones once, one alone as it is, more as "[A, B]".
std::string AggregateErrors(std::span<const std::string> messages);

}  // namespace berth::api
