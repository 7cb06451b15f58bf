#include "server/trace_exporter.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <utility>

#include "base/log.h"
#include "net/tls.h"
#include "net/url.h"

namespace berth::server {
namespace {

constexpr base::Duration kRequestTimeout = std::chrono::seconds(10);
constexpr std::string_view kTracesPath = "/v1/traces";

base::Result<net::HttpClientOptions> ClientOptionsFor(const std::string& endpoint) {
  const bool has_scheme = endpoint.find("://") != std::string::npos;
  auto url = net::ParseUrl(has_scheme ? endpoint : "http://" + endpoint);
  if (!url) return base::Fail(fmt::format("endpoint: {}", url.error().message));
  if (url->path.empty() || url->path == "/") url->path = kTracesPath;
  net::HttpClientOptions options;
  options.base = *std::move(url);
  options.connections_max = 1;
  if (options.base.scheme == "https") {
    auto tls = net::TlsContext::ForClient({});
    if (!tls) return std::unexpected(std::move(tls.error()));
    options.tls = *std::move(tls);
  }
  return options;
}

}  // namespace

TraceExporter::TraceExporter(net::EventLoop& loop, TraceExporterOptions options,
                             net::HttpClientOptions client, base::MetricRegistry& metrics)
    : options_(std::move(options)),
      random_(options_.seed),
      traces_(metrics.AddCounters({.name = "berth_traces_total",
                                   .help = "Number of traced attempts, by what became of the trace: sent, "
                                           "failed or dropped.",
                                   .labels = {"result"}})),
      client_(loop, std::move(client)),
      timer_(loop) {}

base::Result<std::unique_ptr<TraceExporter>> TraceExporter::Make(net::EventLoop& loop,
                                                                 TraceExporterOptions options,
                                                                 base::MetricRegistry& metrics) {
  auto client = ClientOptionsFor(options.endpoint);
  if (!client) return std::unexpected(std::move(client.error()));
  return std::unique_ptr<TraceExporter>(
      new TraceExporter(loop, std::move(options), *std::move(client), metrics));
}

void TraceExporter::Add(std::vector<cycle::AttemptTrace> traces) {
  const std::size_t room = options_.kept_max - std::min(options_.kept_max, kept_.size());
  const std::size_t taken = std::min(room, traces.size());
  std::move(traces.begin(), traces.begin() + static_cast<std::ptrdiff_t>(taken), std::back_inserter(kept_));
  if (taken < traces.size()) traces_.With({"dropped"})->Add(static_cast<double>(traces.size() - taken));
  Schedule();
}

void TraceExporter::Schedule() {
  if (is_sending_ || kept_.empty()) return;
  if (kept_.size() >= options_.batch_max) return Send();
  if (std::exchange(is_scheduled_, true)) return;
  timer_.StartAfter(options_.interval, [this] {
    is_scheduled_ = false;
    if (!is_sending_ && !kept_.empty()) Send();
  });
}

void TraceExporter::Send() {
  is_sending_ = true;
  const std::size_t count = std::min(kept_.size(), options_.batch_max);
  const auto end = kept_.begin() + static_cast<std::ptrdiff_t>(count);
  const std::vector<cycle::AttemptTrace> batch(std::move_iterator(kept_.begin()), std::move_iterator(end));
  kept_.erase(kept_.begin(), end);
  const base::Duration wall_offset = clock_.WallNow().time_since_epoch() - clock_.Now().time_since_epoch();
  net::ClientRequest request;
  request.method = "POST";
  request.target = "";
  request.headers.Add("Content-Type", "application/json");
  request.body = net::MakeBody(WriteOtlp(batch, options_.resource, wall_offset, random_));
  request.timeout = kRequestTimeout;
  client_.Send(std::move(request),
               [this, count](net::NetResult<net::ClientResponse> answer) { OnAnswer(count, answer); });
}

void TraceExporter::OnAnswer(std::size_t count, const net::NetResult<net::ClientResponse>& answer) {
  is_sending_ = false;
  const bool sent = answer.has_value() && answer->status >= 200 && answer->status < 300;
  traces_.With({sent ? "sent" : "failed"})->Add(static_cast<double>(count));
  // Once per outage: traces are no reason to fill the log.
  if (!sent && !std::exchange(failed_before_, true)) {
    BERTH_LOG_WARNING("Traces cannot be sent", {"endpoint", options_.endpoint},
                      {"err", answer ? fmt::format("status {}", answer->status) : answer.error().message});
  }
  if (sent) failed_before_ = false;
  Schedule();
}

}  // namespace berth::server
