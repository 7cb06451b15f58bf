#include "shell/extender_messages.h"

#include <boost/json.hpp>
#include <fmt/format.h>
#include <utility>

#include "client/whole_object.h"

#include "api/pod_record.h"
#include "wire/codec.h"
#include "wire/json_document.h"
#include "wire/schema.h"
#include "wire/transcode.h"

namespace berth::shell {
namespace {

namespace json = boost::json;
using cycle::ExtenderCall;
using cycle::ExtenderVerb;

base::Result<std::string> WholeText(const client::WholeBytes& whole, const char* kind) {
  json::object document;
  if (whole.encoding == client::Encoding::kProtobuf) {
    auto read = wire::ProtobufToDocument(*wire::Schema::Get().FindKind("v1", kind)->message, whole.bytes);
    if (!read) return std::unexpected(std::move(read.error()));
    document = *std::move(read);
  } else {
    auto read = wire::ParseJson(whole.bytes);
    if (!read) return std::unexpected(std::move(read.error()));
    if (!read->is_object()) return base::Fail("no object");
    document = std::move(read->get_object());
  }
  if (json::value* const metadata = document.if_contains("metadata");
      metadata != nullptr && metadata->is_object()) {
    metadata->get_object().erase("managedFields");
  }
  return wire::WriteJson(document);
}

template <class T, class Encode>
std::string TextOf(const client::Shared<T>& object, const char* kind, Encode&& encode) {
  if (const client::WholeBytes* const whole = client::WholeOf(object)) {
    // Bytes that were decoded once can be read again.
    if (auto text = WholeText(*whole, kind)) return *std::move(text);
  }
  return encode(*object);
}

void AppendText(std::string& out, std::string_view text) {
  wire::AppendJson(out, json::string(text.data(), text.size()));
}

template <class Items, class F>
void AppendList(std::string& out, const Items& items, F&& append) {
  out += '[';
  bool is_first = true;
  for (const auto& item : items) {
    if (!std::exchange(is_first, false)) out += ',';
    append(item);
  }
  out += ']';
}

void AppendNodes(std::string& out, const ExtenderCall& call, bool by_name, ObjectTexts& texts) {
  if (by_name) {
    out += R"(,"Nodes":null,"NodeNames":)";
    AppendList(out, call.nodes, [&](const cluster::NodeRef& node) { AppendText(out, node->metadata.name); });
    return;
  }
  out += R"(,"Nodes":{"metadata":{},"items":)";
  AppendList(out, call.nodes, [&](const cluster::NodeRef& node) { out += texts.Of(node); });
  out += R"(},"NodeNames":null)";
}

void AppendVictims(std::string& out, const ExtenderCall& call, bool by_uid, const ObjectTexts& texts) {
  out += by_uid ? R"(,"NodeNameToVictims":null,"NodeNameToMetaVictims":{)" : R"(,"NodeNameToVictims":{)";
  bool is_first = true;
  for (const cycle::NodeVictims& victims : call.victims) {
    if (!std::exchange(is_first, false)) out += ',';
    AppendText(out, victims.node);
    out += R"(:{"Pods":)";
    AppendList(out, victims.pods, [&](const cluster::PodRecordRef& pod) {
      if (by_uid) {
        out += R"({"UID":)";
        AppendText(out, pod->uid);
        out += '}';
      } else {
        out += texts.Of(pod);
      }
    });
    out += fmt::format(R"(,"NumPDBViolations":{}}})", victims.budget_violations);
  }
  out += by_uid ? "}" : R"(},"NodeNameToMetaVictims":null)";
}

std::string BindingBody(const ExtenderCall& call) {
  std::string out = R"({"PodName":)";
  AppendText(out, call.pod->name);
  out += R"(,"PodNamespace":)";
  AppendText(out, call.pod->namespace_);
  out += R"(,"PodUID":)";
  AppendText(out, call.pod->uid);
  out += R"(,"Node":)";
  AppendText(out, call.node);
  out += '}';
  return out;
}

}  // namespace

std::string ObjectTexts::Of(const cluster::PodRecordRef& pod) const {
  return TextOf(pod, "Pod",
                [](const api::PodRecord& record) { return wire::EncodeJson(api::Expand(record)); });
}

const std::string& ObjectTexts::Of(const cluster::NodeRef& node) {
  NodeText& known = nodes_[node->metadata.name];
  if (known.node != node) {
    known = {node, TextOf(node, "Node", [](const api::Node& object) { return wire::EncodeJson(object); })};
  }
  return known.text;
}

std::string QuestionBody(const ExtenderCall& call, bool node_cache_capable, ObjectTexts& texts) {
  if (call.verb == ExtenderVerb::kBind) return BindingBody(call);
  std::string out = R"({"Pod":)";
  out += texts.Of(call.pod);
  if (call.verb == ExtenderVerb::kPreempt) {
    AppendVictims(out, call, node_cache_capable, texts);
  } else {
    AppendNodes(out, call, node_cache_capable, texts);
  }
  out += '}';
  return out;
}

}  // namespace berth::shell
