#pragma once

#include <absl/container/btree_map.h>
#include <boost/json/fwd.hpp>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <expected>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "sandbox/change.h"
#include "sandbox/revision.h"
#include "sandbox/selection.h"
#include "sandbox/subscriptions.h"

namespace berth::sandbox {

// A watch or a list asks for a time that is no longer kept.
struct TooOld {
  std::uint64_t oldest = 0;  // the oldest version that can still be asked for
};

// Keeps changes beyond the life of the process.
class Journal {
 public:
  virtual ~Journal() = default;
  // Before anybody else hears of the change, in particular before a request that made it is answered.
  virtual void Append(const Change& change) = 0;
};

// Objects by resource, namespace and name, each in its last revision, and the changes that led there.
//
// 1. One counter for everything: a write that changes something takes the next value, which becomes the
//    object's resourceVersion. A write that changes nothing takes none and nobody hears of it.
// 2. Receivers hear of changes in the order of their versions, each once, after the store shows them. Writes
//    that a receiver makes are queued behind.
// 3. For each resource, everything after compacted() can be replayed; the bound on the history moves it.
//
// Rules of the API (names, defaults, conflicts) are above this; the store keeps what it is given. No threads:
// one loop owns it.
class Store {
 public:
  struct Options {
    std::size_t history_max = 16'384;  // changes per resource
    std::uint64_t first_version = 1;
  };

  explicit Store(Options options);
  Store() : Store(Options()) {}
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  std::uint64_t version() const { return version_; }
  std::size_t size(const Resource& resource) const { return shelf(resource).objects.size(); }
  RevisionPtr Find(const Resource& resource, std::string_view namespace_name, std::string_view name) const;

  // The document must not exist yet, has metadata.name (and namespace), and gets its resourceVersion here.
  base::Result<RevisionPtr> Create(const Resource& resource, boost::json::object& document);
  // `current` must be what Find gives. The same pointer comes back if nothing changed.
  base::Result<RevisionPtr> Replace(const RevisionPtr& current, boost::json::object& document);
  // Returns the last state, under the version of the removal.
  RevisionPtr Remove(const RevisionPtr& current);

  // From now on every change is told to the journal first.
  void SetJournal(Journal* journal) { journal_ = journal; }
  // Puts back what a journal kept: the object in its last revision, and the version that was reached. Nobody
  // is told; changes from before cannot be replayed.
  void Restore(const RevisionPtr& object);
  void RestoreVersion(std::uint64_t version);
  void ForEachObject(const std::function<void(const RevisionPtr&)>& visit) const;

  struct Range {
    std::optional<std::uint64_t> at = {};  // absent: now
    std::string_view after = {};           // the key that the page begins behind
    std::size_t limit = 0;                 // 0: none
  };
  struct Page {
    std::vector<RevisionPtr> items;
    std::uint64_t version = 0;
    bool more = false;          // there are objects behind items.back(); they need not match
    std::size_t remaining = 0;  // how many of them match
  };
  // Matches in the order of their keys. O(objects in the namespace, or in the resource), plus the changes
  // since `at`.
  std::expected<Page, TooOld> List(const Selection& selection, const Range& range) const;
  std::expected<Page, TooOld> List(const Selection& selection) const { return List(selection, Range()); }

  // The oldest version from which the resource's changes can be replayed.
  std::uint64_t compacted(const Resource& resource) const { return shelf(resource).compacted; }
  void ForEachChangeSince(const Resource& resource, std::uint64_t version,
                          const std::function<void(const Change&)>& visit) const;
  // Forgets all changes so far.
  void Compact();

  // The receiver hears of changes that the selection may match before or after; it checks for itself. It
  // must unsubscribe before it goes.
  SubscriptionId Subscribe(const Selection& selection, ChangeReceiver& receiver);
  void Unsubscribe(SubscriptionId id);
  std::size_t subscription_count() const { return subscriptions_.size(); }

  // Calls once, as soon as version() has reached `version`. The id cancels.
  std::uint64_t WhenReached(std::uint64_t version, std::function<void()> callback);
  void CancelWait(std::uint64_t id);

 private:
  using Objects = absl::btree_map<std::string, RevisionPtr, std::less<>>;
  // Everything of one resource.
  struct Shelf {
    Objects objects;
    std::deque<Change> history;
    std::uint64_t compacted = 0;
  };

  const Shelf& shelf(const Resource& resource) const { return shelves_[resource.storage->index]; }
  Shelf& shelf(const Resource& resource) { return shelves_[resource.storage->index]; }
  base::Result<RevisionPtr> MakeNext(const Resource& resource, boost::json::object& document) const;
  void Commit(const Resource& resource, Change change);
  void Announce();

  const Options options_;
  std::uint64_t version_;
  std::vector<Shelf> shelves_;
  Subscriptions subscriptions_;
  std::deque<Change> unannounced_;
  bool announcing_ = false;
  Journal* journal_ = nullptr;

  struct Wait {
    std::uint64_t id;
    std::function<void()> callback;
  };
  std::multimap<std::uint64_t, Wait> waits_;  // by version
  std::uint64_t last_wait_ = 0;
};

}  // namespace berth::sandbox
