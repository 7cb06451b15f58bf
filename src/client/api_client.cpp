#include "client/api_client.h"

#include <algorithm>
#include <utility>

#include "fmt/format.h"

#include "base/go_duration.h"
#include "base/log.h"

namespace berth::client {
namespace {

constexpr int kRetriesMax = 10;
// A lost connection is tried again as if the server had asked for this.
constexpr auto kLostConnectionPause = std::chrono::seconds(1);
// A server ends what is no watch after a minute by itself; an answer that is later than this never comes.
constexpr auto kAnswerMax = std::chrono::seconds(65);
// Of the body of a watch that was refused.
constexpr std::size_t kErrorBytesMax = std::size_t{1} << 20;

bool IsSuccess(int status) { return status >= 200 && status <= 206; }

std::optional<base::Duration> AskedPause(int status, const net::Headers& headers) {
  if (status != 429 && status < 500) return std::nullopt;
  const auto seconds = RetryAfterSeconds(headers);
  if (!seconds) return std::nullopt;
  return std::chrono::seconds(*seconds);
}

void LogWarnings(const net::Headers& headers) {
  for (const net::Headers::Field& field : headers.fields()) {
    if (net::EqualsIgnoringCase(field.name, "Warning")) {
      BERTH_LOG_WARNING("Warning from the API server", {"warning", field.value});
    }
  }
}

std::string ContentType(const net::Headers& headers) {
  const std::string* text = headers.Find("Content-Type");
  return text == nullptr ? std::string() : *text;
}

RequestSubject SubjectOf(const ApiRequest& request) {
  RequestSubject subject = request.subject;
  subject.method = request.method;
  return subject;
}

}  // namespace

ApiClient::ApiClient(base::Executor& executor, Transport& transport, Credentials& credentials,
                     ApiClientOptions options)
    : executor_(executor),
      transport_(transport),
      credentials_(credentials),
      options_(std::move(options)),
      common_headers_(std::make_shared<const net::Headers>(
          net::Headers{{"User-Agent", options_.user_agent}, {"Accept", options_.accept}})),
      limiter_(executor, options_.rate) {}

net::ClientRequest ApiClient::Prepare(const ApiRequest& request, const net::Body& body, bool is_watch) const {
  net::ClientRequest prepared;
  prepared.timeout = request.timeout;
  prepared.method = request.method;
  prepared.target = request.path;
  const bool tells_timeout = options_.timeout && !is_watch;
  if (tells_timeout) {
    prepared.timeout = std::min(*options_.timeout, prepared.timeout.value_or(base::Duration::max()));
  }
  if (!is_watch && !prepared.timeout) prepared.timeout = kAnswerMax;
  if (tells_timeout || !request.query.empty()) {
    net::QueryPairs query = request.query;
    if (tells_timeout) query.emplace_back("timeout", base::FormatGoDuration(*options_.timeout));
    std::ranges::stable_sort(query, {}, &std::pair<std::string, std::string>::first);
    prepared.target.append("?").append(net::EncodeQuery(query));
  }
  prepared.common_headers = common_headers_;
  if (!body.empty()) {
    prepared.headers.Add("Content-Type", request.content_type);
    prepared.body = body;
  }
  return prepared;
}

base::Duration ApiClient::TakeTurn(const ApiRequest& request) {
  const base::Duration wait = limiter_.Reserve();
  if (options_.metrics != nullptr) options_.metrics->ObserveTurn(request.method, wait);
  return wait;
}

bool ApiClient::IsReady(base::Duration wait, net::ClientRequest& prepared) {
  return wait <= base::Duration::zero() && credentials_.ApplyNow(prepared.headers);
}

base::Task<ApiResult<void>> ApiClient::AwaitReady(base::Duration wait, net::ClientRequest& prepared) {
  if (wait > base::Duration::zero()) co_await executor_.SleepFor(wait);
  if (!credentials_.ApplyNow(prepared.headers)) {
    auto applied = co_await credentials_.Apply(prepared.headers);
    if (!applied) co_return std::unexpected(ApiError{.message = std::move(applied.error().message)});
  }
  co_return ApiResult<void>();
}

void ApiClient::CountAnswer(const ApiRequest& request, int code, bool again) const {
  if (options_.metrics == nullptr) return;
  options_.metrics->CountAnswer(request.method, code);
  if (again) options_.metrics->CountRetry(request.method, code);
}

void ApiClient::Count(RequestMetrics::Exchange exchange, base::TimePoint began) const {
  if (options_.metrics == nullptr) return;
  exchange.duration = executor_.clock().Now() - began;
  options_.metrics->Observe(exchange);
}

base::Task<ApiResult<ApiResponse>> ApiClient::Send(ApiRequest request) {
  const net::Body body = net::MakeBody(std::move(request.body));
  for (int retries = 0;; ++retries) {
    const base::Duration wait = TakeTurn(request);
    net::ClientRequest prepared = Prepare(request, body, false);
    if (!IsReady(wait, prepared)) {
      auto ready = co_await AwaitReady(wait, prepared);
      if (!ready) co_return std::unexpected(std::move(ready.error()));
    }
    const base::TimePoint began = executor_.clock().Now();
    auto response = co_await transport_.Send(std::move(prepared));
    Count({.method = request.method,
           .sent_bytes = net::SizeOf(body),
           .received_bytes = response ? response->body.size() : 0},
          began);
    CountAnswer(request, response ? response->status : 0, retries > 0);
    base::Duration pause = kLostConnectionPause;
    if (!response) {
      ApiError error = ApiError::FromNetwork(std::move(response.error()));
      if (request.method != "GET" || !IsConnectionLost(error) || retries == kRetriesMax) {
        co_return std::unexpected(std::move(error));
      }
    } else {
      LogWarnings(response->headers);
      if (IsSuccess(response->status)) {
        co_return ApiResponse{response->status, ContentType(response->headers), std::move(response->body)};
      }
      if (response->status == 401) credentials_.OnUnauthorized();
      const auto asked_pause = AskedPause(response->status, response->headers);
      if (!asked_pause || retries == kRetriesMax) {
        co_return std::unexpected(ErrorFromResponse(SubjectOf(request), *response));
      }
      pause = *asked_pause;
    }
    co_await executor_.SleepFor(pause);
  }
}

base::Task<ApiResult<void>> ApiClient::ReadWhole(OpenResponse& response, std::string& body) {
  while (body.size() < kErrorBytesMax) {
    auto chunk = co_await response.Read({});
    if (!chunk) co_return std::unexpected(ApiError::FromNetwork(std::move(chunk.error())));
    if (!*chunk) break;
    body += **chunk;
  }
  co_return ApiResult<void>();
}

base::Task<ApiResult<std::unique_ptr<OpenResponse>>> ApiClient::Watch(ApiRequest request) {
  for (int retries = 0;; ++retries) {
    const base::Duration wait = retries > 0 ? TakeTurn(request) : base::Duration::zero();
    net::ClientRequest prepared = Prepare(request, {}, true);
    if (!IsReady(wait, prepared)) {
      auto ready = co_await AwaitReady(wait, prepared);
      if (!ready) co_return std::unexpected(std::move(ready.error()));
    }
    auto response = co_await transport_.Open(std::move(prepared));
    CountAnswer(request, response ? (*response)->status : 0, retries > 0);
    base::Duration pause = kLostConnectionPause;
    if (!response) {
      ApiError error = ApiError::FromNetwork(std::move(response.error()));
      if (!IsConnectionLost(error) && !IsNetworkTimeout(error)) co_return std::unexpected(std::move(error));
      if (retries == kRetriesMax) co_return std::unique_ptr<OpenResponse>();
    } else {
      LogWarnings((*response)->headers);
      if (IsSuccess((*response)->status)) co_return std::move(*response);
      if ((*response)->status == 401) credentials_.OnUnauthorized();
      net::ClientResponse whole{.status = (*response)->status, .headers = (*response)->headers, .body = ""};
      auto read = co_await ReadWhole(**response, whole.body);
      const auto asked = AskedPause(whole.status, whole.headers);
      if (!asked || retries == kRetriesMax) {
        co_return std::unexpected(ErrorFromResponse(SubjectOf(request), whole));
      }
      pause = *asked;
    }
    co_await executor_.SleepFor(pause);
  }
}

}  // namespace berth::client
