#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/api_client.h"
#include "client/backoff.h"
#include "client/initial_state.h"
#include "client/object_store.h"
#include "client/watch_session.h"

#include "base/cancellation.h"
#include "base/event.h"
#include "base/random.h"

namespace berth::client {

// Keeps a copy of one resource in step with a server, and says what changes.
//
// 1. What the sink gets, applied in order, leads from nothing to what the server had at `resource_version()`.
// 2. Nothing of an initial state is handed on before it is whole.
// 3. A watch is taken up where the last one ended; the state is read anew only if the server has forgotten
// that
//    place, refuses the watch, or somebody asks for it.
class Reflector {
 public:
  struct Options {
    Resource resource = Resource::kPods;
    bool use_watch_list = true;  // ask for the initial state as part of the watch first
    std::uint64_t seed = 0;
    bool keep_whole = false;  // objects have the bytes that they were read from (whole_object.h)
    // A watch fell silent: other connections to the server may be just as dead.
    std::function<void()> on_silence = {};
  };
  using Sink = std::function<void(EventBatch)>;

  // `client` and `shared` outlive it.
  Reflector(ApiClient& client, api::SharedParts& shared, Options options, Sink sink);

  // Never returns. Destroying the task ends it.
  base::Task<void> Run();

  bool has_synced() const { return has_synced_; }
  const std::string& resource_version() const { return last_; }
  const ObjectStore& store() const { return store_; }
  Resource resource() const { return options_.resource; }

  // Reads the whole state anew, at least as new as the server has it now, and waits until the sink has it.
  base::Task<void> Refresh();

 private:
  using Session = std::unique_ptr<WatchSession>;

  base::Task<void> RunOnce();
  base::Task<ApiResult<void>> List();
  base::Task<ApiResult<std::string>> ReadPages(std::string resource_version, std::vector<ReadObject>& items);
  base::Task<ApiResult<api::ListMeta>> ReadPage(net::QueryPairs query, std::vector<ReadObject>& items);
  base::Task<ApiResult<Session>> WatchList();
  base::Task<ApiResult<void>> Collect(WatchSession& session, InitialState& state, std::string& marker);
  base::Task<ApiResult<void>> Watch(Session session);
  base::Task<ApiResult<void>> Follow(WatchSession& session, bool opened_anywhere);
  base::Task<ApiResult<Session>> OpenWatch(std::string resource_version, bool wants_initial_state);
  base::Task<void> Pause();
  base::Task<void> PauseBecause(ApiError error);

  void Replace(std::vector<ReadObject> items, std::string resource_version);
  void Deliver(bool is_replace, std::vector<ObjectEvent> events);
  void OnSilence();
  bool EndedAtOnce(const WatchSession& session) const;
  bool IsInterrupted() const { return interrupt_.IsCancelled(); }

  ApiClient& client_;
  base::Executor& executor_;
  const Options options_;
  const ResourceInfo& info_;
  Sink sink_;
  std::unique_ptr<ObjectReader> reader_;
  ObjectStore store_;
  base::Random random_;
  Backoff backoff_;
  std::string last_;            // resource version of what the store holds; empty: nothing yet
  bool unavailable_ = false;    // the server does not have `last_` any more
  bool was_paginated_ = false;  // a list "at any version" came in pages
  bool was_refused_ = false;    // the server was not there when it was last asked
  bool has_synced_ = false;

  // A refresh interrupts what is going on; only a state that was asked for afterwards satisfies it.
  base::CancellationSource interrupt_;
  std::uint64_t refresh_wanted_ = 0;
  std::uint64_t refresh_running_ = 0;
  std::uint64_t refresh_done_ = 0;
  base::Event refreshed_;
};

// Compares resource versions as numbers.
bool IsResourceVersionAtLeast(const std::string& version, const std::string& wanted);

}  // namespace berth::client
