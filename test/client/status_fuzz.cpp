#include <cstddef>
#include <cstdint>
#include <string>

#include "client/status_error.h"

#include "base/check.h"

// The first byte chooses code and content type; the rest is the body. Whatever a server says becomes an error
// with words and a code.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace berth;
  if (size == 0) return 0;
  constexpr int kCodes[] = {400, 401, 403, 404, 409, 410, 422, 429, 500, 502, 503, 504};
  constexpr const char* kTypes[] = {"application/json", "application/vnd.kubernetes.protobuf", "text/plain",
                                    ""};
  net::ClientResponse response;
  response.status = kCodes[data[0] % 12];
  response.headers.Add("Content-Type", kTypes[data[0] / 12 % 4]);
  response.body.assign(reinterpret_cast<const char*>(data) + 1, size - 1);
  const client::ApiError error =
      client::ErrorFromResponse({.method = "POST", .resource = "pods", .name = "p"}, response);
  BERTH_CHECK(error.status && error.status->code != 0);
  BERTH_CHECK(!(client::IsConflict(error) && client::IsNotFound(error)));
  return 0;
}
