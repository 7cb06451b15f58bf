#include <absl/strings/escaping.h>
#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <exception>
#include <fmt/format.h>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "cli/conformance/cases.h"

#include "api/devices.h"
#include "api/events.h"
#include "api/lease.h"
#include "api/list.h"
#include "api/node.h"
#include "api/pod.h"
#include "api/pod_group.h"
#include "api/priority_class.h"
#include "api/storage.h"
#include "api/workloads.h"
#include "api/writes.h"
#include "wire/codec.h"
#include "wire/envelope.h"
#include "wire/json_document.h"
#include "wire/schema.h"
#include "wire/transcode.h"
#include "wire/watch_frame.h"

namespace berth::cli {
namespace {

namespace json = boost::json;
using Difference = std::optional<std::string>;

std::string_view Text(const json::object& object, std::string_view key) { return object.at(key).as_string(); }

std::string Bytes(const json::object& object, std::string_view key) {
  const std::string_view text = Text(object, key);
  std::string bytes;
  if (!absl::Base64Unescape({text.data(), text.size()}, &bytes)) throw std::runtime_error("illegal base64");
  return bytes;
}

bool IsNothing(const json::value& value) {
  return value.is_null() || (value.is_array() && value.get_array().empty());
}

// A null, an empty list and no list are one and the same to Go.
bool Same(const json::value& a, const json::value& b) {
  if (IsNothing(a) || IsNothing(b)) return IsNothing(a) && IsNothing(b);
  if (a.is_array() && b.is_array()) {
    return std::ranges::equal(a.get_array(), b.get_array(), Same);
  }
  if (!a.is_object() || !b.is_object()) return a == b;
  const auto has_all_of = [](const json::object& from, const json::object& in) {
    return std::ranges::all_of(from, [&](const auto& entry) {
      const json::value* other = in.if_contains(entry.key());
      return other == nullptr ? IsNothing(entry.value()) : Same(entry.value(), *other);
    });
  };
  return has_all_of(a.get_object(), b.get_object()) && has_all_of(b.get_object(), a.get_object());
}

// Whether all that `part` says is in `whole` too: structs have a part of the fields only.
bool IsPartOf(const json::value& part, const json::value& whole) {
  if (IsNothing(part)) return true;
  if (part.is_array() && whole.is_array()) {
    return std::ranges::equal(part.get_array(), whole.get_array(), IsPartOf);
  }
  if (!part.is_object() || !whole.is_object()) return part == whole;
  return std::ranges::all_of(part.get_object(), [&](const auto& entry) {
    const json::value* other = whole.get_object().if_contains(entry.key());
    return other == nullptr ? IsNothing(entry.value()) : IsPartOf(entry.value(), *other);
  });
}

struct TypedInput {
  std::string_view raw;
  std::string text;
  const json::value& document;
};

// Parameters of drivers are kept as the text they came as, which may escape the same characters in two ways.
template <class T>
bool SameObject(const T& a, const T& b) {
  return a == b || wire::EncodeJson(a) == wire::EncodeJson(b);
}

template <class T>
Difference CheckTyped(const TypedInput& input) {
  const auto from_bytes = wire::DecodeProtobuf<T>(input.raw);
  if (!from_bytes) return "typed protobuf: " + from_bytes.error().message;
  const auto from_text = wire::DecodeJson<T>(input.text, wire::Strictness::kStrict);
  if (!from_text) return "typed JSON: " + from_text.error().message;
  const std::string text = wire::EncodeJson(*from_bytes);
  if (!SameObject(*from_bytes, *from_text)) {
    return fmt::format("structs differ: protobuf gives {}, JSON gives {}", text,
                       wire::EncodeJson(*from_text));
  }
  if (wire::DecodeProtobuf<T>(wire::EncodeProtobuf(*from_bytes)) != from_bytes)
    return "protobuf does not come back";
  const auto again = wire::DecodeJson<T>(text);
  if (!again || !SameObject(*again, *from_text)) return "JSON does not come back: " + text;
  if (!IsPartOf(json::parse(text), input.document)) return "not part of the object: " + text;
  return std::nullopt;
}

struct TypedKind {
  wire::ObjectKind kind;
  Difference (*check)(const TypedInput&);
};

template <class... T>
std::array<TypedKind, sizeof...(T)> TypedKinds() {
  return {TypedKind{wire::KindOf<T>(), &CheckTyped<T>}...};
}

Difference CheckStructs(const wire::ObjectKind& kind, const TypedInput& input) {
  static const auto kTypedKinds =
      TypedKinds<api::Pod, api::Node, api::Namespace, api::Service, api::ReplicationController,
                 api::ReplicaSet, api::StatefulSet, api::PodDisruptionBudget, api::PersistentVolume,
                 api::PersistentVolumeClaim, api::StorageClass, api::CSINode, api::CSIDriver,
                 api::CSIStorageCapacity, api::VolumeAttachment, api::ResourceClaim, api::ResourceSlice,
                 api::DeviceClass, api::DeviceTaintRule, api::PodGroup, api::CompositePodGroup,
                 api::PriorityClass, api::Lease, api::Event, api::CoreEvent, api::Binding, api::Eviction,
                 api::Status, api::List<api::Pod>, api::List<api::Node>,
                 api::List<api::PersistentVolumeClaim>, api::List<api::CSINode>,
                 api::List<api::ResourceClaim>, api::List<api::ResourceSlice>, api::List<api::PodGroup>>();
  for (const TypedKind& typed : kTypedKinds) {
    if (typed.kind == kind) return typed.check(input);
  }
  return std::nullopt;  // a kind that berth only carries
}

Difference CheckWhole(const std::string& body, const json::object& want) {
  const auto document = wire::EnvelopeToDocument(body);
  if (!document) return "protobuf to JSON: " + document.error().message;
  if (!Same(*document, want)) return "protobuf to JSON gives " + json::serialize(*document);
  for (const json::object* source : {&*document, &want}) {
    const auto bytes = wire::DocumentToEnvelope(*source);
    if (!bytes) return "JSON to protobuf: " + bytes.error().message;
    const auto again = wire::EnvelopeToDocument(*bytes);
    if (!again) return "own protobuf to JSON: " + again.error().message;
    if (!Same(*again, want)) return "JSON to protobuf and back gives " + json::serialize(*again);
  }
  return std::nullopt;
}

// The object of a watch event; null if the event cannot be read.
std::optional<json::object> EventObject(const wire::WatchFrame& frame) {
  const wire::KindInfo* info = wire::Schema::Get().FindKind(frame.object.api_version, frame.object.kind);
  if (info == nullptr) return std::nullopt;
  auto document = wire::ProtobufToDocument(*info->message, frame.object.raw);
  if (!document) return std::nullopt;
  (*document)["kind"] = json::string_view(frame.object.kind.data(), frame.object.kind.size());
  (*document)["apiVersion"] =
      json::string_view(frame.object.api_version.data(), frame.object.api_version.size());
  return *std::move(document);
}

Difference CheckWatch(const json::object& test_case) {
  const std::string bytes = Bytes(test_case, "watchFrameBase64");
  wire::FrameSplitter splitter(wire::FrameSplitter::Framing::kLength);
  splitter.Feed(bytes);
  const auto body = splitter.Next();
  if (!body || !*body) return "the frame is not whole";
  const auto frame = wire::ParseWatchFrame(**body);
  if (!frame) return "watch frame: " + frame.error().message;
  if (wire::ToString(frame->type) != Text(test_case, "watchType")) return "watch type is another";
  const auto object = EventObject(*frame);
  if (!object) return "the object of the frame cannot be read";

  const json::value* line = test_case.if_contains("watchJson");
  if (line == nullptr) {
    return Same(*object, test_case.at("json")) ? std::nullopt : Difference("the frame holds another object");
  }
  const std::string text =
      line->is_string() ? std::string(Text(test_case, "watchJson")) : json::serialize(*line);
  const auto event = wire::ParseWatchLine(text);
  if (!event) return "watch line: " + event.error().message;
  if (event->type != frame->type) return "line and frame differ in type";
  const auto document = wire::ParseJson(event->object);
  if (!document) return "watch line: " + document.error().message;
  return Same(*document, *object) ? std::nullopt : Difference("line and frame hold different objects");
}

Difference Check(const json::object& test_case) {
  const std::string body = Bytes(test_case, "protobufBase64");
  const wire::ObjectKind kind{Text(test_case, "apiVersion"), Text(test_case, "kind")};
  const auto envelope = wire::ParseEnvelope(body);
  if (!envelope) return "envelope: " + envelope.error().message;
  if (wire::ObjectKind{envelope->api_version, envelope->kind} != kind)
    return "the envelope names another kind";
  const json::value& document = test_case.at("json");
  if (auto difference = CheckWhole(body, document.as_object())) return difference;
  const TypedInput input{.raw = envelope->raw, .text = wire::WriteJson(document), .document = document};
  if (auto difference = CheckStructs(kind, input)) return difference;
  return test_case.contains("watchFrameBase64") ? CheckWatch(test_case) : std::nullopt;
}

}  // namespace

std::optional<std::string> CheckWireCase(const json::object& test_case) {
  try {
    return Check(test_case);
  } catch (const std::exception& error) {
    return fmt::format("the case cannot be read: {}", error.what());
  }
}

}  // namespace berth::cli
