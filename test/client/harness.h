#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "client/api_client.h"
#include "client/credentials.h"
#include "client/reflector.h"
#include "client/transport.h"
#include "gtest/gtest.h"

#include "base/clock.h"
#include "base/event.h"
#include "base/executor.h"

namespace berth::client {

// A request as a server would see it.
struct SeenRequest {
  std::string method;
  std::string target;
  net::Headers headers;
  std::string body;
  base::TimePoint at;
};

// A response whose body a test writes bit by bit.
class Stream {
 public:
  explicit Stream(base::Executor& executor, std::string content_type = "application/json")
      : changed_(executor), headers_{{"Content-Type", std::move(content_type)}} {}

  void Push(std::string bytes) {
    chunks_.push_back(std::move(bytes));
    changed_.Set();
  }
  void End(std::optional<net::NetError> error = std::nullopt) {
    ended_ = true;
    error_ = std::move(error);
    changed_.Set();
  }
  bool is_abandoned() const { return is_abandoned_; }

 private:
  friend class ScriptedTransport;

  std::deque<std::string> chunks_;
  bool ended_ = false;
  bool is_abandoned_ = false;
  std::optional<net::NetError> error_;
  base::Event changed_;
  net::Headers headers_;
};

using Reply = net::NetResult<net::ClientResponse>;
using Answer = std::variant<Reply, std::shared_ptr<Stream>>;

// A server that follows a script: each request gets the next answer. Without one it waits for ever.
class ScriptedTransport final : public Transport {
 public:
  explicit ScriptedTransport(base::Executor& executor) : executor_(executor) {}

  base::Task<Reply> Send(net::ClientRequest request) override {
    Answer answer = co_await Take(std::move(request));
    co_return std::move(std::get<Reply>(answer));
  }
  base::Task<net::NetResult<std::unique_ptr<OpenResponse>>> Open(net::ClientRequest request) override {
    Answer answer = co_await Take(std::move(request));
    if (Reply* reply = std::get_if<Reply>(&answer)) {
      if (!*reply) co_return std::unexpected(reply->error());
      auto stream = std::make_shared<Stream>(executor_);
      stream->Push((*reply)->body);
      stream->End();
      stream->headers_ = (*reply)->headers;
      co_return std::make_unique<Reader>(std::move(stream), (*reply)->status);
    }
    co_return std::make_unique<Reader>(std::get<std::shared_ptr<Stream>>(answer), 200);
  }

  void DropIdleConnections() override { ++idle_drops; }

  std::deque<Answer> answers;
  // Asked when the script has run out.
  std::function<std::optional<Answer>(const SeenRequest&)> fallback;
  std::vector<SeenRequest> seen;
  int idle_drops = 0;

 private:
  class Reader final : public OpenResponse {
   public:
    Reader(std::shared_ptr<Stream> stream, int code) : stream_(std::move(stream)) {
      status = code;
      headers = stream_->headers_;
    }
    ~Reader() override { stream_->is_abandoned_ = true; }

    base::Task<net::NetResult<std::optional<std::string>>> Read(base::CancellationToken token) override {
      while (stream_->chunks_.empty() && !stream_->ended_) {
        stream_->changed_.Reset();
        const base::WaitResult waited = co_await stream_->changed_.WaitFor(token);
        if (waited == base::WaitResult::kCancelled) {
          co_return std::unexpected(net::NetError{net::ErrorKind::kCancelled, "cancelled"});
        }
      }
      if (!stream_->chunks_.empty()) {
        std::optional<std::string> chunk = std::move(stream_->chunks_.front());
        stream_->chunks_.pop_front();
        co_return std::move(chunk);
      }
      if (stream_->error_) co_return std::unexpected(*stream_->error_);
      co_return std::optional<std::string>();
    }

   private:
    std::shared_ptr<Stream> stream_;
  };

  base::Task<Answer> Take(net::ClientRequest request) {
    SeenRequest now{.method = request.method,
                    .target = request.target,
                    .headers = request.AllHeaders(),
                    .body = request.body.empty() ? std::string() : *request.body.front(),
                    .at = executor_.clock().Now()};
    seen.push_back(now);
    std::optional<Answer> answer;
    if (!answers.empty()) {
      answer = std::move(answers.front());
      answers.pop_front();
    } else if (fallback) {
      answer = fallback(now);
    }
    if (answer) co_return std::move(*answer);
    co_await never_.WaitFor();
    co_return Reply(std::unexpected(net::NetError{net::ErrorKind::kTimeout, "never"}));
  }

  base::Executor& executor_;
  base::Event never_{executor_};
};

class Nobody final : public Credentials {
 public:
  base::Task<base::Result<void>> Apply(net::Headers&) override { co_return base::Result<void>(); }
  void OnUnauthorized() override { ++unauthorized; }

  int unauthorized = 0;
};

inline Reply Json(int status, std::string body, net::Headers headers = {}) {
  headers.Add("Content-Type", "application/json");
  return net::ClientResponse{.status = status, .headers = std::move(headers), .body = std::move(body)};
}
inline Reply Failure(int code, const std::string& reason, const std::string& message = "no",
                     net::Headers headers = {}) {
  return Json(code,
              R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":")" + message +
                  R"(","reason":")" + reason + R"(","code":)" + std::to_string(code) + "}",
              std::move(headers));
}
inline Reply Broken(net::ErrorKind kind) { return std::unexpected(net::NetError{kind, "broken"}); }

// Tasks on a virtual clock, against a scripted server.
class ClientTest : public testing::Test {
 protected:
  // Lets time pass; everything that becomes due on the way runs at its time.
  void Advance(base::Duration by) {
    const base::TimePoint end = clock_.Now() + by;
    executor_.RunReady();
    while (executor_.NextDeadline() && *executor_.NextDeadline() <= end) {
      clock_.SetTo(std::max(clock_.Now(), *executor_.NextDeadline()));
      executor_.RunReady();
    }
    clock_.SetTo(end);
    executor_.RunReady();
  }
  void RunReady() { executor_.RunReady(); }

  // Starts the task; its result appears when it is done.
  template <class T>
  std::shared_ptr<std::optional<T>> Start(base::Task<T> task) {
    auto result = std::make_shared<std::optional<T>>();
    tasks_.Spawn(Keep(std::move(task), result));
    executor_.RunReady();
    return result;
  }
  void StartForGood(base::Task<void> task) {
    tasks_.Spawn(std::move(task));
    executor_.RunReady();
  }

  std::shared_ptr<Stream> AddStream(std::string content_type = "application/json") {
    auto stream = std::make_shared<Stream>(executor_, std::move(content_type));
    server_.answers.emplace_back(stream);
    return stream;
  }
  void AddReply(Reply reply) { server_.answers.emplace_back(std::move(reply)); }

  const SeenRequest& last_seen() const { return server_.seen.back(); }
  base::Duration now() const { return clock_.Now().time_since_epoch(); }

  base::VirtualClock clock_{base::TimePoint(), base::WallPoint(std::chrono::seconds(1'780'000'000))};
  base::Executor executor_{clock_};
  ScriptedTransport server_{executor_};
  Nobody nobody_;
  ApiClient client_{executor_, server_, nobody_, {.user_agent = "test", .rate = {.per_second = 0}}};
  // What tasks refer to is kept here until they are gone.
  std::vector<std::shared_ptr<void>> kept_;
  base::TaskSet tasks_{executor_};

  template <class T, class... Arguments>
  T& Make(Arguments&&... arguments) {
    auto made = std::make_shared<T>(std::forward<Arguments>(arguments)...);
    kept_.push_back(made);
    return *made;
  }

 private:
  template <class T>
  static base::Task<void> Keep(base::Task<T> task, std::shared_ptr<std::optional<T>> result) {
    result->emplace(co_await std::move(task));
  }
};

}  // namespace berth::client
