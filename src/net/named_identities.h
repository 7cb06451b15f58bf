#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "net/certificates.h"

struct ssl_ctx_st;
struct ssl_st;

namespace berth::net {

// A certificate for clients that ask for one of these names.
struct NamedKeyPair {
  KeyPair pair;
  std::vector<std::string> names = {};  // empty: those that the certificate has, but for addresses
};

// Chooses a server's certificate by the name that a client asks for.
//
// A name that was given wins over one that a certificate has, an earlier pair over a later one, the whole
// name over a pattern for its first label ("*.example.org"). A client that asks for no name is known by the
// address that it reached. Where nothing fits, the server's own certificate is shown.
class NamedIdentities {
 public:
  static base::Result<std::unique_ptr<NamedIdentities>> Make(const std::vector<NamedKeyPair>& pairs);
  ~NamedIdentities();
  NamedIdentities(const NamedIdentities&) = delete;
  NamedIdentities& operator=(const NamedIdentities&) = delete;

  // From now on connections of the context choose. This object outlives them.
  void Attach(ssl_ctx_st* context);

 private:
  struct Identity;
  NamedIdentities();
  const Identity* Find(std::string name) const;
  bool Choose(ssl_st* connection) const;

  std::vector<std::unique_ptr<Identity>> identities_;
  std::vector<std::pair<std::string, const Identity*>> by_name_;  // the first of a name counts
};

}  // namespace berth::net
