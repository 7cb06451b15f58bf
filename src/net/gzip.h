#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/error.h"
#include "net/http_message.h"

namespace berth::net {

// A gzip member with the text in it; the fastest level, since the reader is usually on a local network.
std::string Gzip(std::string_view text);

// Whether the sender of these headers may be answered in gzip: its Accept-Encoding names gzip, or everything,
// and not with a weight of zero.
bool AcceptsGzip(const Headers& headers);

// Fails on anything but one whole member, and on text of more than `bytes_max` (a small file can hold a huge
// one).
base::Result<std::string> Gunzip(std::string_view packed, std::size_t bytes_max);

}  // namespace berth::net
