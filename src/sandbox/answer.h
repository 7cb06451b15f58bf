#pragma once

#include <boost/json/fwd.hpp>
#include <span>
#include <string>

#include "net/http_message.h"
#include "sandbox/media.h"
#include "sandbox/representation.h"
#include "sandbox/status_error.h"

namespace berth::sandbox {

// A whole answer, before it goes to an exchange.
struct Answer {
  int code = 200;
  net::Headers headers;
  net::Body body;
};

Answer TextAnswer(int code, std::string text, std::string_view content_type = "text/plain; charset=utf-8");
Answer DocumentAnswer(int code, const boost::json::object& document, MediaType media);
// The object from its finished bytes.
Answer ObjectAnswer(int code, const Resource& served, const Revision& object, MediaType media);
Answer ListAnswer(const Resource& served, std::span<const RevisionPtr> items, const ListHead& head,
                  MediaType media);
Answer ErrorAnswer(const StatusError& error, MediaType media);

// Packs a body that is worth it, for a client that can unpack it.
void CompressIfLarge(Answer& answer, const net::Headers& request);

// As clients show them to their users.
void AddWarnings(Answer& answer, std::span<const std::string> warnings);

}  // namespace berth::sandbox
