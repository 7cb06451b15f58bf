#pragma once

#include <boost/json/fwd.hpp>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/kinds.h"
#include "sandbox/status_error.h"

namespace berth::sandbox {

enum class FieldErrorType : std::uint8_t {
  kRequired,
  kInvalid,
  kNotSupported,
  kForbidden,
  kDuplicate,
  kNotFound,
  kTooLong,
  kTooMany,
  kTypeInvalid,
};

// One thing that is wrong with an object.
struct FieldError {
  FieldErrorType type = FieldErrorType::kInvalid;
  std::string field = {};
  std::string value = {};  // as it is printed: quoted if it is a string; unused for kRequired and kForbidden
  std::string detail = {};

  // "spec.nodeName: Forbidden: may not be set"
  std::string ToString() const;
};

using FieldErrorList = std::vector<FieldError>;

void AddError(FieldErrorList& errors, FieldErrorType type, std::string_view field, std::string value,
              std::string_view detail);

// The 422 that names them all.
StatusError Invalid(std::string_view group, std::string_view kind, std::string_view name,
                    std::span<const FieldError> errors);
StatusError Invalid(const Resource& resource, std::string_view name, std::span<const FieldError> errors);

// Whole documents in their stored form, after admission. Empty: nothing is wrong.
FieldErrorList ValidateCreate(const Resource& resource, const boost::json::object& document);
FieldErrorList ValidateUpdate(const Resource& resource, const boost::json::object& document,
                              const boost::json::object& old);
FieldErrorList ValidateStatusUpdate(const Resource& resource, const boost::json::object& document,
                                    const boost::json::object& old);

}  // namespace berth::sandbox
