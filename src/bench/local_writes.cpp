#include "bench/local_writes.h"

#include <string>
#include <utility>

namespace berth::bench {
namespace {

// Takes the answer to one request.
class LocalExchange final : public sandbox::Exchange {
 public:
  explicit LocalExchange(std::shared_ptr<std::optional<net::ClientResponse>> answer)
      : answer_(std::move(answer)) {}

  void Send(int status, const net::Headers& headers, const net::Body& body) override {
    net::ClientResponse response{.status = status, .headers = headers, .body = {}};
    for (const net::Buffer& part : body) response.body += *part;
    *answer_ = std::move(response);
  }
  // Nothing is watched this way.
  std::unique_ptr<sandbox::StreamSink> StartStream(int, const net::Headers&) override { return nullptr; }

 private:
  std::shared_ptr<std::optional<net::ClientResponse>> answer_;
};

net::NetError NoAnswer() { return {net::ErrorKind::kUnreachable, "the server does not answer this here"}; }

}  // namespace

class LocalWrites::Transport final : public client::Transport {
 public:
  explicit Transport(sandbox::ControlPlane& plane) : plane_(plane) {}

  base::Task<net::NetResult<net::ClientResponse>> Send(net::ClientRequest request) override {
    net::Request arrived;
    arrived.method = std::move(request.method);
    arrived.target = std::move(request.target);
    arrived.headers = request.AllHeaders();
    for (const net::Buffer& part : request.body) arrived.body += *part;
    auto answer = std::make_shared<std::optional<net::ClientResponse>>();
    plane_.api().Handle(arrived, std::make_unique<LocalExchange>(answer), /*trusted=*/true);
    if (!*answer) co_return std::unexpected(NoAnswer());
    co_return std::move(**answer);
  }
  base::Task<net::NetResult<std::unique_ptr<client::OpenResponse>>> Open(net::ClientRequest) override {
    co_return std::unexpected(NoAnswer());
  }

 private:
  sandbox::ControlPlane& plane_;
};

class LocalWrites::Nobody final : public client::Credentials {
 public:
  base::Task<base::Result<void>> Apply(net::Headers&) override { co_return base::Result<void>(); }
};

LocalWrites::LocalWrites(sandbox::ControlPlane& plane, Deliver deliver, base::Random random)
    : deliver_(std::move(deliver)),
      executor_(plane.clock()),
      transport_(std::make_unique<Transport>(plane)),
      nobody_(std::make_unique<Nobody>()) {
  client::ApiClientOptions options{.user_agent = "berth-bench"};
  options.rate = {.per_second = -1, .burst = 0};
  client_ = std::make_unique<client::ApiClient>(executor_, *transport_, *nobody_, std::move(options));
  requests_ = std::make_unique<shell::ObjectRequests>(*client_, random);
  tasks_ = std::make_unique<base::TaskSet>(executor_);
}

LocalWrites::~LocalWrites() = default;

void LocalWrites::Start(cycle::StartedWrite write) { tasks_->Spawn(Execute(std::move(write))); }

base::Task<void> LocalWrites::Execute(cycle::StartedWrite write) {
  base::Result<cluster::AnyObject> result = co_await requests_->Request(std::move(write.write));
  deliver_(core::WriteFinished{write.id, std::move(result)});
}

}  // namespace berth::bench
