#include "sim/write_link.h"

#include <fmt/format.h>
#include <string>
#include <utility>

#include "client/api_client.h"

#include "base/executor.h"
#include "shell/object_requests.h"

namespace berth::sim {
namespace {

// One answer of the server, for whoever comes to fetch it.
struct KeptAnswer {
  bool is_there = false;
  net::ClientResponse response;
};

class KeptExchange final : public sandbox::Exchange {
 public:
  explicit KeptExchange(std::shared_ptr<KeptAnswer> answer) : answer_(std::move(answer)) {}

  void Send(int status, const net::Headers& headers, const net::Body& body) override {
    answer_->is_there = true;
    answer_->response.status = status;
    answer_->response.headers = headers;
    for (const net::Buffer& part : body) answer_->response.body += *part;
  }
  // Writes are answered whole.
  std::unique_ptr<sandbox::StreamSink> StartStream(int, const net::Headers&) override { return nullptr; }

 private:
  std::shared_ptr<KeptAnswer> answer_;
};

class NoCredentials final : public client::Credentials {
 public:
  base::Task<base::Result<void>> Apply(net::Headers&) override { co_return base::Result<void>(); }
};

net::Request Arriving(const net::ClientRequest& request) {
  net::Request arrived;
  arrived.method = request.method;
  arrived.target = request.target;
  arrived.headers = request.AllHeaders();
  for (const net::Buffer& part : request.body) arrived.body += *part;
  return arrived;
}

net::NetError Lost() {
  return {.kind = net::ErrorKind::kTimeout, .message = "the connection was lost, on purpose"};
}

net::ClientResponse Refusal() {
  net::ClientResponse response;
  response.status = 500;
  response.headers.Add("Content-Type", "application/json");
  response.body =
      R"({"kind":"Status","apiVersion":"v1","status":"Failure","reason":"InternalError","code":500,)"
      R"("message":"Internal error occurred: on purpose"})";
  return response;
}

client::ApiClientOptions ClientOptions() {
  client::ApiClientOptions options;
  options.user_agent = "simulation";
  options.rate.per_second = 0;
  return options;
}

}  // namespace

class WriteLink::PlaneTransport final : public client::Transport {
 public:
  PlaneTransport(WriteLink& link, base::Executor& executor) : link_(link), executor_(executor) {}

  base::Task<net::NetResult<net::ClientResponse>> Send(net::ClientRequest request) override {
    const base::Duration there = link_.Delay();
    co_await executor_.SleepFor(there);
    const bool is_refused = link_.random_.Chance(link_.faults_.call_refused);
    const bool is_lost = link_.random_.Chance(link_.faults_.call_refused / 2);
    const net::ClientResponse response = is_refused ? Refusal() : link_.Arrive(request);
    if (link_.story_ != nullptr) {
      link_.story_->Tell(fmt::format("{} {}: {}{}", request.method, request.target, response.status,
                                     is_lost ? ", and the answer is lost" : ""));
    }
    const base::Duration back = link_.Delay();
    co_await executor_.SleepFor(back);
    if (is_lost) co_return std::unexpected(Lost());
    co_return response;
  }
  base::Task<net::NetResult<std::unique_ptr<client::OpenResponse>>> Open(net::ClientRequest) override {
    co_return std::unexpected(Lost());
  }

 private:
  WriteLink& link_;
  base::Executor& executor_;
};

// What goes when the scheduler's process does.
class WriteLink::Process {
 public:
  explicit Process(WriteLink& link)
      : link_(link),
        executor_(link.plane_.clock()),
        transport_(link, executor_),
        client_(executor_, transport_, credentials_, ClientOptions()),
        requests_(client_, link.random_.Split()),
        tasks_(executor_) {}

  base::Executor& executor() { return executor_; }
  void Start(cycle::StartedWrite write) { tasks_.Spawn(Run(std::move(write))); }

 private:
  base::Task<void> Run(cycle::StartedWrite write) {
    const cycle::WriteId id = write.id;
    base::Result<cluster::AnyObject> answer = co_await requests_.Request(std::move(write.write));
    link_.trace_.Add(answer ? std::string() : answer.error().message);
    core::WriteFinished finished{.id = id, .result = std::move(answer)};
    link_.deliver_(std::move(finished));
  }

  WriteLink& link_;
  NoCredentials credentials_;
  base::Executor executor_;
  PlaneTransport transport_;
  client::ApiClient client_;
  shell::ObjectRequests requests_;
  base::TaskSet tasks_;  // last, so that they go before what they use
};

WriteLink::WriteLink(sandbox::ControlPlane& plane, Deliver deliver, base::Random random)
    : plane_(plane),
      deliver_(std::move(deliver)),
      random_(random),
      process_(std::make_unique<Process>(*this)) {}

WriteLink::~WriteLink() = default;

base::Duration WriteLink::Delay() {
  if (faults_.call_delay_max.count() == 0) return {};
  return base::Duration(random_.Uniform(static_cast<std::uint64_t>(faults_.call_delay_max.count())));
}

net::ClientResponse WriteLink::Arrive(const net::ClientRequest& request) {
  const auto answer = std::make_shared<KeptAnswer>();
  plane_.api().Handle(Arriving(request), std::make_unique<KeptExchange>(answer), /*trusted=*/true);
  trace_.AddSigned(plane_.clock().Now().time_since_epoch().count());
  trace_.Add(request.target);
  trace_.Add(static_cast<std::uint64_t>(answer->response.status));
  if (!answer->is_there) return Refusal();
  if (answer->response.status < 300) ++done_count_;
  return std::move(answer->response);
}

void WriteLink::Start(cycle::StartedWrite write) { process_->Start(std::move(write)); }

void WriteLink::Restart() { process_ = std::make_unique<Process>(*this); }

std::optional<base::TimePoint> WriteLink::NextDeadline() const { return process_->executor().NextDeadline(); }

void WriteLink::RunDue() { process_->executor().RunReady(); }

}  // namespace berth::sim
