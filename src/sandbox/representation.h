#pragma once

#include <boost/json/fwd.hpp>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "net/http_message.h"
#include "sandbox/revision.h"

// Stored objects as one group version serves them.
namespace berth::sandbox {

boost::json::object ServedDocument(const Resource& served, const Revision& object);
net::Buffer ObjectJson(const Resource& served, const Revision& object);
// Protobuf in its envelope.
std::string ObjectEnvelope(const Resource& served, const Revision& object);

// A document of the served form in the form that is stored.
boost::json::object StoredForm(const Resource& served, boost::json::object document);

struct ListHead {
  std::uint64_t version = 0;
  std::string continue_token = {};
  std::optional<std::size_t> remaining = {};
};

// The ListMeta of the head.
boost::json::object ListMetadata(const ListHead& head);
std::string ListJson(const Resource& served, std::span<const RevisionPtr> items, const ListHead& head);
std::string ListEnvelope(const Resource& served, std::span<const RevisionPtr> items, const ListHead& head);

}  // namespace berth::sandbox
