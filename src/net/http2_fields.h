#pragma once

#include <cstddef>
#include <cstdint>
#include <nghttp2/nghttp2.h>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "net/http_message.h"

// For sources of this room alone.
namespace berth::net {

// Names and values of one message, in memory that stays until it is submitted and serves the next one.
class Http2Fields {
 public:
  void Clear() {
    texts_.clear();
    sizes_.clear();
    fields_.clear();
  }
  void Add(std::string_view lower_name, std::string_view value) {
    texts_.append(lower_name).append(value);
    sizes_.push_back({lower_name.size(), value.size()});
  }
  // Those that cannot be sent, or that belong to one connection of HTTP/1.1, are left out.
  void AddAll(const Headers& headers);
  // Valid until the next change.
  std::span<const nghttp2_nv> Finish();

 private:
  std::string texts_;
  std::vector<std::pair<std::size_t, std::size_t>> sizes_;
  std::vector<nghttp2_nv> fields_;
};

}  // namespace berth::net
