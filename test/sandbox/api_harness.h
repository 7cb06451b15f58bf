#pragma once

#include <boost/json.hpp>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "sandbox/control_plane.h"
#include "sandbox/document.h"
#include "wire/json_document.h"

// A control plane without sockets, on a clock that stands still until it is told to move.
namespace berth::sandbox::test {

namespace json = boost::json;

inline json::object Parse(std::string_view text) {
  base::Result<json::value> value = wire::ParseJson(text);
  EXPECT_TRUE(value && value->is_object()) << text;
  return value && value->is_object() ? std::move(value->get_object()) : json::object();
}

struct Reply {
  int code = 0;
  net::Headers headers;
  std::string body;

  json::object document() const { return Parse(body); }
  std::string text(Path path) const { return std::string(TextAt(document(), path)); }
  std::string message() const { return text({"message"}); }
  std::string version() const { return text({"metadata", "resourceVersion"}); }
  std::string header(std::string_view name) const {
    const std::string* value = headers.Find(name);
    return value != nullptr ? *value : "";
  }
};

// What a watch sent, as the reader of the connection would see it.
struct Recorded {
  int code = 0;
  net::Headers headers;
  std::string bytes;
  bool started = false;
  bool finished = false;
  bool severed = false;
  bool dropped = false;  // the server let go of the stream
  bool stuck = false;    // the reader takes nothing
  std::move_only_function<void()> gone;

  struct Event {
    std::string type;
    json::object object;
  };
  // Of a JSON watch.
  std::vector<Event> events() const {
    std::vector<Event> list;
    std::string_view rest = bytes;
    while (!rest.empty()) {
      const std::size_t end = rest.find('\n');
      const json::object line = Parse(rest.substr(0, end));
      const json::object* object = FindObject(line, {"object"});
      list.push_back({std::string(TextAt(line, {"type"})), object != nullptr ? *object : json::object()});
      rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    }
    return list;
  }
  // "ADDED a", "MODIFIED a", ... in order.
  std::vector<std::string> story() const {
    std::vector<std::string> lines;
    for (const Event& event : events()) {
      lines.push_back(event.type + " " + std::string(TextAt(event.object, {"metadata", "name"})));
    }
    return lines;
  }
};

class RecordingSink final : public StreamSink {
 public:
  explicit RecordingSink(std::shared_ptr<Recorded> record) : record_(std::move(record)) {}
  ~RecordingSink() override { record_->dropped = true; }

  bool Write(net::Buffer data) override {
    record_->bytes += *data;
    if (record_->stuck) queued_ += data->size();
    return true;
  }
  std::size_t queued_bytes() const override { return queued_; }
  void Finish() override { record_->finished = true; }
  void Sever() override { record_->severed = true; }
  void OnGone(std::move_only_function<void()> callback) override { record_->gone = std::move(callback); }

 private:
  std::shared_ptr<Recorded> record_;
  std::size_t queued_ = 0;
};

class RecordingExchange final : public Exchange {
 public:
  explicit RecordingExchange(std::shared_ptr<Recorded> record) : record_(std::move(record)) {}

  void Send(int status, const net::Headers& headers, const net::Body& body) override {
    record_->code = status;
    record_->headers = headers;
    for (const net::Buffer& part : body) record_->bytes += *part;
  }
  std::unique_ptr<StreamSink> StartStream(int status, const net::Headers& headers) override {
    record_->code = status;
    record_->headers = headers;
    record_->started = true;
    return std::make_unique<RecordingSink>(record_);
  }

 private:
  std::shared_ptr<Recorded> record_;
};

class ApiHarness {
 public:
  static constexpr std::int64_t kStartSeconds = 1'700'000'000;

  explicit ApiHarness(ControlPlane::Options options = {})
      : clock_(base::TimePoint(std::chrono::hours(1)), base::WallPoint(std::chrono::seconds(kStartSeconds))),
        plane_(clock_, std::move(options)) {}

  // The answer may still be outstanding (code 0) or go on for ever.
  std::shared_ptr<Recorded> Start(std::string method, std::string target, std::string body = "",
                                  net::Headers headers = {}, bool stuck = false) {
    auto record = std::make_shared<Recorded>();
    record->stuck = stuck;
    net::Request request;
    request.method = std::move(method);
    request.target = std::move(target);
    request.body = std::move(body);
    request.headers = std::move(headers);
    plane_.api().Handle(request, std::make_unique<RecordingExchange>(record));
    plane_.RunDue();
    return record;
  }
  Reply Send(std::string method, std::string target, std::string body = "", net::Headers headers = {}) {
    const auto record = Start(std::move(method), std::move(target), std::move(body), std::move(headers));
    return {record->code, record->headers, record->bytes};
  }
  Reply Get(std::string target) { return Send("GET", std::move(target)); }
  Reply Post(std::string target, std::string body) {
    return Send("POST", std::move(target), std::move(body));
  }
  Reply Put(std::string target, std::string body) { return Send("PUT", std::move(target), std::move(body)); }
  Reply Delete(std::string target, std::string body = "") {
    return Send("DELETE", std::move(target), std::move(body));
  }
  Reply Patch(std::string target, std::string body,
              std::string type = "application/strategic-merge-patch+json") {
    return Send("PATCH", std::move(target), std::move(body), {{"Content-Type", std::move(type)}});
  }
  std::shared_ptr<Recorded> Watch(std::string target) { return Start("GET", std::move(target)); }

  void Advance(base::Duration by) {
    clock_.Advance(by);
    plane_.RunDue();
  }

  ControlPlane& plane() { return plane_; }
  std::string version() { return std::to_string(plane_.store().version()); }

 private:
  base::VirtualClock clock_;
  ControlPlane plane_;
};

inline constexpr const char* kPods = "/api/v1/namespaces/default/pods";

// A pod of one container; `more` goes into its spec.
inline std::string PodJson(std::string_view name, std::string_view more = "") {
  std::string text = R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":")";
  text.append(name)
      .append(R"("},"spec":{"containers":[{"name":"c","image":"i:1"}])")
      .append(more)
      .append("}}");
  return text;
}

inline std::string BindingJson(std::string_view pod, std::string_view node) {
  std::string text = R"({"kind":"Binding","apiVersion":"v1","metadata":{"name":")";
  text.append(pod).append(R"("},"target":{"kind":"Node","name":")").append(node).append(R"("}})");
  return text;
}

inline std::string PodPath(std::string_view name) { return std::string(kPods).append("/").append(name); }

}  // namespace berth::sandbox::test
