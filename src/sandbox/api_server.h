#pragma once

#include <absl/container/flat_hash_map.h>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "base/timers.h"
#include "net/http_server.h"
#include "sandbox/answer.h"
#include "sandbox/exchange.h"
#include "sandbox/list_options.h"
#include "sandbox/object_writer.h"
#include "sandbox/route.h"
#include "sandbox/users.h"
#include "sandbox/watch_stream.h"

namespace berth::sandbox {

// The API of a cluster as requests and answers, without sockets: routing, the verbs, watches, discovery.
//
// Nothing here blocks. What has to wait (a list of the future, a watch) answers later, from a timer of
// `timers` or from a write to the store; both are driven by the owner, on one thread.
class ApiServer {
 public:
  struct Options {
    Users users = {};  // empty: everybody is let in
    base::Duration bookmark_interval = std::chrono::minutes(1);
    std::size_t watch_backlog_max = std::size_t{8} << 20;
    std::uint64_t seed = 1;  // of the lifetimes of watches
  };

  ApiServer(ObjectWriter& writer, const base::Clock& clock, base::TimerQueue& timers, Options options);
  ~ApiServer();
  ApiServer(const ApiServer&) = delete;
  ApiServer& operator=(const ApiServer&) = delete;

  // Requests that come without credentials over a port that asks for none are `trusted`.
  void Handle(const net::Request& request, std::unique_ptr<Exchange> exchange, bool trusted = false);

  // Who sends the request; null if it is not to be answered. Valid as long as this is.
  const User* UserOf(const net::Request& request, bool trusted = false) const;

  std::size_t watch_count() const { return watches_.size(); }

 private:
  // A request for a resource, on its way through the verbs.
  struct Call {
    const net::Request& request;
    const User& user;
    Route route;
    AnswerForm form;
    std::vector<std::string> warnings = {};
  };

  Answer AnswerOther(const net::Request& request, const StatusError& not_found) const;
  void HandleResource(Call call, std::unique_ptr<Exchange> exchange);
  ApiResult<Answer> AnswerVerb(Call& call);

  ApiResult<Answer> Get(Call& call);
  void List(const Call& call, std::unique_ptr<Exchange> exchange);
  ApiResult<Answer> ListNow(const Call& call, const ListOptions& options);
  void Watch(const Call& call, std::unique_ptr<Exchange> exchange);
  void WaitThenList(const Call& call, const ListOptions& options, std::unique_ptr<Exchange> exchange);
  struct Submission;
  ApiResult<Submission> Read(Call& call);
  ApiResult<Answer> Create(Call& call);
  ApiResult<Answer> CreateBinding(Call& call, std::string name);
  ApiResult<Answer> CreateEviction(Call& call);
  ApiResult<Answer> CreateReview(Call& call);
  ApiResult<Answer> Update(Call& call);
  ApiResult<Answer> Patch(Call& call);
  ApiResult<Answer> PatchOrCreate(Call& call, const PatchRequest& patch, bool dry_run);
  ApiResult<Answer> Scale(Call& call);
  ApiResult<Answer> Delete(Call& call);
  ApiResult<Answer> DeleteCollection(Call& call);
  Answer Show(const Call& call, int code, const RevisionPtr& object) const;

  ObjectWriter& writer_;
  Store& store_;
  const base::Clock& clock_;
  base::TimerQueue& timers_;
  const Options options_;
  base::Random random_;
  absl::flat_hash_map<std::uint64_t, std::unique_ptr<WatchStream>> watches_;
  std::uint64_t last_watch_ = 0;
};

}  // namespace berth::sandbox
