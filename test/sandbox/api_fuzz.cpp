#include <boost/json.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/clock.h"
#include "sandbox/control_plane.h"
#include "wire/json_document.h"

namespace {

using namespace berth;

struct Outcome {
  int code = 0;
  std::string body;
};

class Sink final : public sandbox::StreamSink {
 public:
  bool Write(net::Buffer) override { return true; }
  std::size_t queued_bytes() const override { return 0; }
  void Finish() override {}
  void Sever() override {}
  void OnGone(std::move_only_function<void()>) override {}
};

class OneExchange final : public sandbox::Exchange {
 public:
  explicit OneExchange(std::shared_ptr<Outcome> outcome) : outcome_(std::move(outcome)) {}
  void Send(int status, const net::Headers&, const net::Body& body) override {
    BERTH_CHECK(outcome_->code == 0);  // one answer
    outcome_->code = status;
    for (const net::Buffer& part : body) outcome_->body += *part;
  }
  std::unique_ptr<sandbox::StreamSink> StartStream(int status, const net::Headers&) override {
    outcome_->code = status;
    return std::make_unique<Sink>();
  }

 private:
  std::shared_ptr<Outcome> outcome_;
};

std::string_view TakeLine(std::string_view& rest) {
  const std::size_t end = rest.find('\n');
  const std::string_view line = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  return line;
}

}  // namespace

// Everything that a client controls: the method and the target on the first line, Content-Type and Accept on
// the next two, and the body. Whatever it is, there is one answer, and a refusal is a Status object.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  base::VirtualClock clock(base::TimePoint(std::chrono::hours(1)),
                           base::WallPoint(std::chrono::hours(500'000)));
  sandbox::ControlPlane plane(clock, {});
  net::Request request;
  std::string_view first = TakeLine(rest);
  const std::size_t blank = first.find(' ');
  if (blank == std::string_view::npos) return 0;
  request.method = first.substr(0, blank);
  request.target = first.substr(blank + 1);
  if (const std::string_view type = TakeLine(rest); !type.empty())
    request.headers.Set("Content-Type", std::string(type));
  if (const std::string_view accept = TakeLine(rest); !accept.empty())
    request.headers.Set("Accept", std::string(accept));
  request.body = rest;
  auto outcome = std::make_shared<Outcome>();
  plane.api().Handle(request, std::make_unique<OneExchange>(outcome));
  plane.RunDue();
  clock.Advance(std::chrono::seconds(10));
  plane.RunDue();
  BERTH_CHECK(outcome->code >= 200 && outcome->code < 600);
  const bool is_json = request.headers.Find("Accept") == nullptr;
  // A path of no group is refused in plain text, as the API server does.
  const bool is_text = outcome->code == 404 && outcome->body == "404 page not found\n";
  if (outcome->code >= 400 && is_json && !is_text && request.method != "HEAD") {
    const auto status = wire::ParseJson(outcome->body);
    BERTH_CHECK(status.has_value() && status->is_object() && status->get_object().contains("status"));
  }
  return 0;
}
