#pragma once

#include <boost/json/fwd.hpp>
#include <string>
#include <string_view>

#include "base/error.h"

namespace berth::wire {

struct Message;

// Whole objects between protobuf and JSON documents, driven by the schema, every field kept. For the fields
// that the scheduler reads, decoded straight into structs, see codec.h.
//
// A document made from protobuf is what Go's encoder prints for the same object: which empty values have a
// key and which have none, the order of the keys, canonical quantities, times in UTC. Fields that the schema
// does not know are dropped, as Go drops them. Documents may hold anything; unknown keys are passed over
// (json_document.h reports them) and a value of the wrong type is an error that names its path.
//
// Protobuf made from a document is what Go writes, byte for byte, but for JSON within JSON (RawExtension,
// FieldsV1): it is carried as text, which is written anew without white space.

// The bare message, without envelope; the document has no kind and apiVersion.
base::Result<boost::json::object> ProtobufToDocument(const Message& message, std::string_view bytes);
base::Result<std::string> DocumentToProtobuf(const Message& message, const boost::json::object& document);

// The same with an envelope: kind and apiVersion lead the document, and say which message it is.
base::Result<boost::json::object> EnvelopeToDocument(std::string_view body);
base::Result<std::string> DocumentToEnvelope(const boost::json::object& document);

}  // namespace berth::wire
