#include <boost/json.hpp>
#include <fmt/format.h>

#include "sandbox/api_server.h"
#include "sandbox/table.h"

// GET, LIST and WATCH.
namespace berth::sandbox {
namespace {

constexpr base::Duration kFutureWait = std::chrono::seconds(3);
constexpr std::int64_t kWatchSecondsMin = 1800;

constexpr std::string_view kContinueTooOld =
    "The provided continue parameter is too old to display a consistent list result. You can start a new "
    "list "
    "without the continue parameter.";

// Sends the one answer of a list that had to wait, whichever of the two comes first.
struct PendingList {
  std::unique_ptr<Exchange> exchange;
  std::uint64_t wait = 0;
  base::TimerQueue::TimerId timer;
};

}  // namespace

ApiResult<Answer> ApiServer::Get(Call& call) {
  const ApiResult<RevisionPtr> object = writer_.Get(call.route.target);
  if (!object) return Refuse(object.error());
  return Show(call, 200, *object);
}

void ApiServer::List(const Call& call, std::unique_ptr<Exchange> exchange) {
  const ApiResult<ListOptions> options = ParseListOptions(call.route);
  const bool is_future = options && options->version.value_or(0) > store_.version();
  if (is_future) {
    WaitThenList(call, *options, std::move(exchange));
    return;
  }
  ApiResult<Answer> answer = options ? ListNow(call, *options) : Refuse(options.error());
  if (!answer) answer = ErrorAnswer(answer.error(), call.form.media);
  CompressIfLarge(*answer, call.request.headers);
  exchange->Send(answer->code, answer->headers, answer->body);
}

// A version that is not there yet may be on its way: a client that talked to a faster server knows it.
void ApiServer::WaitThenList(const Call& call, const ListOptions& options,
                             std::unique_ptr<Exchange> exchange) {
  auto pending = std::make_shared<PendingList>();
  pending->exchange = std::move(exchange);
  const std::uint64_t wanted = *options.version;
  const auto finish = [this, pending](const ApiResult<Answer>& answer, MediaType media) {
    store_.CancelWait(pending->wait);
    timers_.Cancel(pending->timer);
    const Answer sent = answer ? *answer : ErrorAnswer(answer.error(), media);
    pending->exchange->Send(sent.code, sent.headers, sent.body);
  };
  auto request = std::make_shared<net::Request>(call.request);
  auto later = std::make_shared<Call>(
      Call{.request = *request, .user = call.user, .route = call.route, .form = call.form});
  pending->wait = store_.WhenReached(wanted, [this, finish, later, request, options] {
    finish(ListNow(*later, options), later->form.media);
  });
  pending->timer =
      timers_.Schedule(clock_.Now() + kFutureWait, [this, finish, wanted, media = call.form.media] {
        finish(Refuse(VersionTooLarge(wanted, store_.version())), media);
      });
}

ApiResult<Answer> ApiServer::ListNow(const Call& call, const ListOptions& options) {
  Store::Range range{.after = options.continue_after, .limit = options.limit};
  if (options.continue_version) range.at = options.continue_version;
  if (options.match == VersionMatch::kExact) range.at = options.version;
  const std::expected<Store::Page, TooOld> page = store_.List(options.selection, range);
  if (!page) {
    return Refuse(Expired(options.continue_version
                              ? std::string(kContinueTooOld)
                              : std::string("The resourceVersion for the provided list is too old.")));
  }
  ListHead head{.version = page->version};
  if (page->more) {
    head.continue_token = MakeContinueToken(page->version, page->items.back()->key());
    if (!options.selection.narrows_by_content()) head.remaining = page->remaining;
  }
  const Resource& served = *call.route.target.resource;
  switch (call.form.shape) {
    case Shape::kObject:
      return ListAnswer(served, page->items, head, call.form.media);
    case Shape::kMetadata:
      return DocumentAnswer(200, MetadataOnlyList(served, page->items, head), call.form.media);
    case Shape::kTable:
      break;
  }
  const TableOptions table{.include_object = call.route.parameter("includeObject"), .now = clock_.WallNow()};
  return DocumentAnswer(200, MakeTable(served, page->items, head, table), call.form.media);
}

void ApiServer::Watch(const Call& call, std::unique_ptr<Exchange> exchange) {
  ApiResult<ListOptions> options = ParseListOptions(call.route);
  if (!options) {
    const Answer answer = ErrorAnswer(options.error(), call.form.media);
    exchange->Send(answer.code, answer.headers, answer.body);
    return;
  }
  const std::int64_t spread = static_cast<std::int64_t>(random_.Uniform(kWatchSecondsMin));
  const std::int64_t seconds =
      options->timeout_seconds.value_or(0) > 0 ? *options->timeout_seconds : kWatchSecondsMin + spread;
  std::string type(ContentType(call.form.media));
  if (call.form.media == MediaType::kProtobuf) type += ";stream=watch";
  std::unique_ptr<StreamSink> sink =
      exchange->StartStream(200, {{"Cache-Control", "no-cache, private"}, {"Content-Type", type}});
  const std::uint64_t id = ++last_watch_;
  WatchStream::Settings settings{.served = call.route.target.resource,
                                 .options = std::move(*options),
                                 .form = call.form,
                                 .include_object = std::string(call.route.parameter("includeObject")),
                                 .lifetime = std::chrono::seconds(seconds),
                                 .bookmark_interval = options_.bookmark_interval,
                                 .backlog_max = options_.watch_backlog_max};
  auto stream = std::make_unique<WatchStream>(store_, clock_, timers_, std::move(settings), std::move(sink),
                                              [this, id] { watches_.erase(id); });
  WatchStream& started = *stream;
  watches_.emplace(id, std::move(stream));
  started.Start();
}

}  // namespace berth::sandbox
