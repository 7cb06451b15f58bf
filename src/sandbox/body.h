#pragma once

#include <boost/json/fwd.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "net/http_server.h"
#include "sandbox/kinds.h"
#include "sandbox/route.h"
#include "sandbox/status_error.h"

// What requests carry.
namespace berth::sandbox {

// What is done about fields that a kind does not have, and about repeated ones.
enum class FieldValidation : std::uint8_t { kIgnore, kWarn, kStrict };

ApiResult<FieldValidation> FieldValidationOf(const Route& route);
ApiResult<bool> DryRunOf(const Route& route);

struct ExpectedKind {
  std::string_view api_version;
  std::string_view kind;
};

// The body as a document of the expected kind, whatever encoding it came in. A kind that is left out is taken
// for granted; another one is refused. Unknown fields go to `warnings` or refuse the body, as asked.
ApiResult<boost::json::object> DecodeBody(const net::Request& request, const ExpectedKind& expected,
                                          FieldValidation validation, std::vector<std::string>& warnings);

// The same for a document that is a patch's result.
ApiResult<void> CheckFields(const Resource& served, const boost::json::object& document,
                            FieldValidation validation, std::vector<std::string>& warnings);

// The same for a configuration that is applied: its fields are known, but keys may be there twice.
ApiResult<void> CheckRepeatedKeys(std::string_view yaml, FieldValidation validation,
                                  std::vector<std::string>& warnings);

// On whose behalf the request writes: its fieldManager, else the first word of its User-Agent.
FieldManager ManagerOf(const net::Request& request, const Route& route);

// DeleteOptions from the body or from the query.
ApiResult<DeleteWish> DecodeDeleteOptions(const net::Request& request, const Route& route);

}  // namespace berth::sandbox
