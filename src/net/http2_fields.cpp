#include "net/http2_fields.h"

#include <cctype>

namespace berth::net {
namespace {

bool IsOfConnection(std::string_view lower_name) {
  return lower_name == "connection" || lower_name == "host" || lower_name == "keep-alive" ||
         lower_name == "transfer-encoding" || lower_name == "upgrade" || lower_name == "proxy-connection";
}

}  // namespace

void Http2Fields::AddAll(const Headers& headers) {
  for (const Headers::Field& field : headers.fields()) {
    if (!IsHeaderValue(field.value)) continue;
    const std::size_t at = texts_.size();
    Add(field.name, field.value);
    for (std::size_t i = at; i < at + field.name.size(); ++i) {
      texts_[i] = static_cast<char>(std::tolower(static_cast<unsigned char>(texts_[i])));
    }
    if (IsOfConnection(std::string_view(texts_).substr(at, field.name.size()))) {
      texts_.resize(at);
      sizes_.pop_back();
    }
  }
}

std::span<const nghttp2_nv> Http2Fields::Finish() {
  auto* at = reinterpret_cast<std::uint8_t*>(texts_.data());
  for (const auto& [name, value] : sizes_) {
    fields_.push_back({at, at + name, name, value, NGHTTP2_NV_FLAG_NONE});
    at += name + value;
  }
  return fields_;
}

}  // namespace berth::net
