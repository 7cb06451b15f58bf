#pragma once

#include <string>

#include "base/error.h"

struct x509_store_st;

namespace berth::net {

// Adds every certificate of a PEM text. A text without any is an error, which says what OpenSSL thinks of it.
base::Result<void> AddAuthorities(x509_store_st* store, const std::string& pem);

}  // namespace berth::net
