#include "sandbox/audit_log.h"

#include <boost/json.hpp>
#include <chrono>
#include <utility>

#include "api/time.h"
#include "sandbox/document.h"
#include "sandbox/media.h"
#include "sandbox/route.h"
#include "sandbox/text_parts.h"
#include "sandbox/uid.h"
#include "wire/json_document.h"
#include "wire/transcode.h"
#include "wire/yaml.h"

namespace berth::sandbox {
namespace {

namespace json = boost::json;

std::string TimeOfDay(base::WallPoint now) {
  const auto micros = std::chrono::floor<std::chrono::microseconds>(now.time_since_epoch());
  return api::FormatMicroTime({.unix_micros = micros.count()});
}

// What a write carries, as JSON; null if it carries nothing that can be read.
json::value BodyDocument(const net::Request& request) {
  const std::string* header = request.headers.Find("Content-Type");
  const std::string type = header != nullptr ? BareType(*header) : "";
  if (type == ContentType(MediaType::kProtobuf)) {
    base::Result<json::object> document = wire::EnvelopeToDocument(request.body);
    return document ? json::value(std::move(*document)) : json::value();
  }
  base::Result<json::value> value = base::Fail("not read");
  if (type.ends_with("yaml")) {
    const base::Result<std::string> text = wire::YamlToJson(request.body);
    if (text) value = wire::ParseJson(*text);
  } else {
    value = wire::ParseJson(request.body);
  }
  return value ? std::move(*value) : json::value();
}

json::object UserDocument(const User* user) {
  json::object document;
  document["username"] = user != nullptr ? user->name : "";
  if (user == nullptr) return document;
  if (!user->uid.empty()) document["uid"] = user->uid;
  if (!user->groups.empty()) document["groups"] = json::array(user->groups.begin(), user->groups.end());
  return document;
}

json::object Reference(const Target& target) {
  json::object reference;
  reference["resource"] = target.resource->plural;
  if (!target.namespace_name.empty()) reference["namespace"] = target.namespace_name;
  if (!target.name.empty()) reference["name"] = target.name;
  if (!target.resource->group.empty()) reference["apiGroup"] = target.resource->group;
  reference["apiVersion"] = target.resource->version;
  if (!target.subresource.empty()) reference["subresource"] = target.subresource;
  return reference;
}

// Everything of an event that is known when the request arrives.
json::object RequestDocument(const net::Request& request, const User* user) {
  const ApiResult<Route> route = ParseRoute(request);
  json::object event;
  event["kind"] = "Event";
  event["apiVersion"] = "audit.k8s.io/v1";
  event["level"] = "Request";
  event["requestURI"] = request.target;
  event["verb"] = route ? std::string(NameOf(route->verb)) : LowerCase(request.method);
  event["user"] = UserDocument(user);
  std::string_view address = request.remote_address;
  address = address.substr(0, address.rfind(':'));
  if (address.starts_with('[')) address = address.substr(1, address.size() - 2);
  if (!address.empty()) event["sourceIPs"] = json::array({address});
  if (const std::string* agent = request.headers.Find("User-Agent")) event["userAgent"] = *agent;
  if (!route) return event;
  event["objectRef"] = Reference(route->target);
  const bool is_read = route->verb == Verb::kGet || route->verb == Verb::kList || route->verb == Verb::kWatch;
  if (is_read || request.body.empty()) return event;
  json::value body = BodyDocument(request);
  if (body.is_null()) return event;
  // A path that ends before the name: the object has it.
  if (const json::object* object = body.if_object(); object != nullptr && route->target.name.empty()) {
    const std::string_view name = TextAt(*object, {"metadata", "name"});
    if (!name.empty()) ObjectAt(event, {"objectRef"})["name"] = name;
  }
  event["requestObject"] = std::move(body);
  return event;
}

}  // namespace

// Ends when the server lets go of it, whoever wanted that.
class AuditLog::AuditedStream final : public StreamSink {
 public:
  AuditedStream(AuditLog& log, json::object event, int code, std::unique_ptr<StreamSink> inner)
      : log_(log), event_(std::move(event)), code_(code), inner_(std::move(inner)) {}
  ~AuditedStream() override { log_.Write(event_, "ResponseComplete", code_); }

  bool Write(net::Buffer data) override { return inner_->Write(std::move(data)); }
  std::size_t queued_bytes() const override { return inner_->queued_bytes(); }
  void Finish() override { inner_->Finish(); }
  void Sever() override { inner_->Sever(); }
  void OnGone(std::move_only_function<void()> callback) override { inner_->OnGone(std::move(callback)); }

 private:
  AuditLog& log_;
  const json::object event_;
  const int code_;
  std::unique_ptr<StreamSink> inner_;
};

class AuditLog::AuditedExchange final : public Exchange {
 public:
  AuditedExchange(AuditLog& log, json::object event, std::unique_ptr<Exchange> inner)
      : log_(log), event_(std::move(event)), inner_(std::move(inner)) {}

  void Send(int status, const net::Headers& headers, const net::Body& body) override {
    log_.Write(event_, "ResponseComplete", status);
    inner_->Send(status, headers, body);
  }
  std::unique_ptr<StreamSink> StartStream(int status, const net::Headers& headers) override {
    log_.Write(event_, "ResponseStarted", status);
    return std::make_unique<AuditedStream>(log_, std::move(event_), status,
                                           inner_->StartStream(status, headers));
  }

 private:
  AuditLog& log_;
  json::object event_;
  std::unique_ptr<Exchange> inner_;
};

AuditLog::AuditLog(const base::Clock& clock, std::uint64_t seed, Output output)
    : clock_(clock), random_(seed), output_(std::move(output)) {}

std::unique_ptr<Exchange> AuditLog::Follow(const net::Request& request, const User* user,
                                           std::unique_ptr<Exchange> exchange) {
  json::object event = RequestDocument(request, user);
  event["auditID"] = NewUid(random_);
  event["requestReceivedTimestamp"] = TimeOfDay(clock_.WallNow());
  return std::make_unique<AuditedExchange>(*this, std::move(event), std::move(exchange));
}

void AuditLog::Write(const json::object& request, std::string_view stage, int code) {
  json::object event = request;
  event["stage"] = stage;
  event["responseStatus"] = json::object({{"metadata", json::object()}, {"code", code}});
  event["stageTimestamp"] = TimeOfDay(clock_.WallNow());
  output_(wire::WriteJson(event) + "\n");
}

}  // namespace berth::sandbox
