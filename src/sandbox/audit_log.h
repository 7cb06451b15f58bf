#pragma once

#include <boost/json/fwd.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/random.h"
#include "net/http_server.h"
#include "sandbox/exchange.h"
#include "sandbox/users.h"

namespace berth::sandbox {

// Who asked for what, when, and what came of it: a line of JSON for each request that was answered, in the
// form of Kubernetes' audit log (audit.k8s.io/v1). Watches have one when they begin and one when they end.
//
// Stands before everything that answers, so that faults on request are noted as clients saw them. A line is
// handed on before the answer is, as kube-apiserver does it in its blocking mode: who has the answer finds
// the line. The bodies of writes are part of it.
class AuditLog {
 public:
  // Takes a line with its end.
  using Output = std::move_only_function<void(std::string_view line)>;

  // `seed` is that of the ids of requests.
  AuditLog(const base::Clock& clock, std::uint64_t seed, Output output);
  AuditLog(const AuditLog&) = delete;
  AuditLog& operator=(const AuditLog&) = delete;

  // The same exchange, followed to its end. This must outlive it. `user` is null if nobody was let in.
  std::unique_ptr<Exchange> Follow(const net::Request& request, const User* user,
                                   std::unique_ptr<Exchange> exchange);

 private:
  class AuditedExchange;
  class AuditedStream;

  // `event` is what was known of the request.
  void Write(const boost::json::object& event, std::string_view stage, int code);

  const base::Clock& clock_;
  base::Random random_;
  Output output_;
};

}  // namespace berth::sandbox
