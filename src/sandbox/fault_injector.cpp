#include "sandbox/fault_injector.h"

#include <utility>

#include "sandbox/answer.h"
#include "sandbox/media.h"
#include "sandbox/route.h"

namespace berth::sandbox {
namespace {

std::string_view VerbName(const Route& route) {
  if (route.target.subresource == "binding" || route.target.resource->kind == "Binding") return "bind";
  return NameOf(route.verb == Verb::kDeleteCollection ? Verb::kDelete : route.verb);
}

StatusError MadeUp(int code) {
  StatusError error{.code = code, .message = "made up by the sandbox: --fault error"};
  if (code == 429) error.retry_after_seconds = 1;
  error.reason = code == 429   ? "TooManyRequests"
                 : code == 503 ? "ServiceUnavailable"
                 : code == 504 ? "Timeout"
                 : code == 409 ? "Conflict"
                 : code == 403 ? "Forbidden"
                 : code == 404 ? "NotFound"
                 : code >= 500 ? "InternalError"
                               : "BadRequest";
  return error;
}

// The setting for the verb, or the one for all others.
template <class Settings>
const typename Settings::mapped_type* Setting(const Settings& settings, std::string_view verb) {
  auto it = settings.find(verb);
  if (it == settings.end()) it = settings.find("");
  return it != settings.end() ? &it->second : nullptr;
}

// A watch whose connection is not to be trusted.
class UnreliableSink final : public StreamSink {
 public:
  struct Fate {
    std::optional<base::Duration> dropped_after = {};
    bool is_severed = false;  // when it is dropped, and the connection with it
    std::optional<base::Duration> silent_after = {};
  };

  UnreliableSink(std::unique_ptr<StreamSink> inner, ControlPlane& plane, const Fate& fate)
      : inner_(std::move(inner)), plane_(plane) {
    const base::TimePoint now = plane_.clock().Now();
    if (fate.dropped_after) {
      timer_ = plane_.timers().Schedule(now + *fate.dropped_after, [this, severs = fate.is_severed] {
        if (severs) inner_->Sever();
        Drop();
      });
    } else if (fate.silent_after) {
      timer_ = plane_.timers().Schedule(now + *fate.silent_after, [this] { is_silent_ = true; });
    }
  }
  ~UnreliableSink() override { plane_.timers().Cancel(timer_); }

  bool Write(net::Buffer data) override {
    if (is_silent_) return true;
    return inner_ != nullptr && inner_->Write(std::move(data));
  }
  std::size_t queued_bytes() const override { return inner_ != nullptr ? inner_->queued_bytes() : 0; }
  void Finish() override {
    if (inner_ != nullptr && !is_silent_) inner_->Finish();
  }
  void Sever() override {
    if (inner_ != nullptr) inner_->Sever();
  }
  void OnGone(std::move_only_function<void()> callback) override {
    gone_ = std::move(callback);
    inner_->OnGone([this] { Tell(); });
  }

 private:
  void Drop() {
    inner_.reset();
    Tell();
  }
  // The callback may destroy this.
  void Tell() {
    if (gone_) std::exchange(gone_, nullptr)();
  }

  std::unique_ptr<StreamSink> inner_;
  ControlPlane& plane_;
  base::TimerQueue::TimerId timer_;
  std::move_only_function<void()> gone_;
  bool is_silent_ = false;
};

class UnreliableExchange final : public Exchange {
 public:
  UnreliableExchange(std::unique_ptr<Exchange> inner, ControlPlane& plane, UnreliableSink::Fate fate)
      : inner_(std::move(inner)), plane_(plane), fate_(fate) {}

  void Send(int status, const net::Headers& headers, const net::Body& body) override {
    inner_->Send(status, headers, body);
  }
  std::unique_ptr<StreamSink> StartStream(int status, const net::Headers& headers) override {
    return std::make_unique<UnreliableSink>(inner_->StartStream(status, headers), plane_, fate_);
  }

 private:
  std::unique_ptr<Exchange> inner_;
  ControlPlane& plane_;
  const UnreliableSink::Fate fate_;
};

}  // namespace

FaultInjector::FaultInjector(ControlPlane& plane, FaultPlan plan)
    : plane_(plane), plan_(std::move(plan)), random_(plan_.seed) {
  if (plan_.compact) CompactLater();
}

FaultInjector::~FaultInjector() { plane_.timers().Cancel(compaction_); }

void FaultInjector::CompactLater() {
  compaction_ = plane_.timers().Schedule(plane_.clock().Now() + *plan_.compact, [this] {
    plane_.store().Compact();
    CompactLater();
  });
}

void FaultInjector::Handle(const net::Request& request, std::unique_ptr<Exchange> exchange, bool trusted) {
  const ApiResult<Route> route = ParseRoute(request);
  if (!route) {
    plane_.api().Handle(request, std::move(exchange), trusted);
    return;
  }
  const std::string_view verb = VerbName(*route);
  if (Refuses(request, verb, *exchange)) return;
  if (route->verb == Verb::kWatch) exchange = Unreliable(std::move(exchange));
  const base::Duration delay = Delay(verb);
  if (delay == base::Duration(0)) {
    plane_.api().Handle(request, std::move(exchange), trusted);
    return;
  }
  plane_.timers().Schedule(plane_.clock().Now() + delay,
                           [&plane = plane_, request, trusted, later = std::move(exchange)]() mutable {
                             plane.api().Handle(request, std::move(later), trusted);
                           });
}

bool FaultInjector::Refuses(const net::Request& request, std::string_view verb, Exchange& exchange) {
  std::optional<StatusError> error;
  const FaultPlan::Failure* failure = Setting(plan_.failures, verb);
  if (failure != nullptr && random_.Chance(failure->rate)) error = MadeUp(failure->code);
  const bool may_conflict = verb == "update" || verb == "patch";
  if (!error && may_conflict && random_.Chance(plan_.conflict)) {
    error = MadeUp(409);
    error->message =
        "Operation cannot be fulfilled: the object has been modified; please apply your changes to the "
        "latest "
        "version and try again (made up by the sandbox: --fault conflict)";
  }
  if (!error) return false;
  const Answer answer = ErrorAnswer(*error, NegotiateError(request.headers.Find("Accept")).media);
  exchange.Send(answer.code, answer.headers, answer.body);
  return true;
}

std::unique_ptr<Exchange> FaultInjector::Unreliable(std::unique_ptr<Exchange> exchange) {
  UnreliableSink::Fate fate;
  const auto part = [&](base::Duration of, double times) {
    return base::Duration(
        static_cast<std::int64_t>(random_.UniformReal() * times * static_cast<double>(of.count())));
  };
  if (plan_.watch_drop) fate.dropped_after = part(*plan_.watch_drop, 2);
  if (plan_.watch_cut) {
    const base::Duration cut_after = part(*plan_.watch_cut, 2);
    fate.is_severed = !fate.dropped_after || cut_after < *fate.dropped_after;
    if (fate.is_severed) fate.dropped_after = cut_after;
  }
  if (plan_.watch_stall > 0 && random_.Chance(plan_.watch_stall)) {
    fate.dropped_after.reset();
    fate.silent_after = part(std::chrono::seconds(10), 1);
  }
  if (!fate.dropped_after && !fate.silent_after) return exchange;
  return std::make_unique<UnreliableExchange>(std::move(exchange), plane_, fate);
}

base::Duration FaultInjector::Delay(std::string_view verb) {
  const FaultPlan::Latency* latency = Setting(plan_.latency, verb);
  if (latency == nullptr) return base::Duration(0);
  const auto spread = static_cast<double>((latency->max - latency->min).count());
  return latency->min + base::Duration(static_cast<std::int64_t>(random_.UniformReal() * spread));
}

}  // namespace berth::sandbox
