#include "sandbox/store.h"

#include <algorithm>
#include <boost/json.hpp>
#include <cstdlib>

#include "base/check.h"
#include "sandbox/document.h"

namespace berth::sandbox {
namespace {

namespace json = boost::json;

// The first key that does not start with "namespace/": '0' follows '/'.
std::string EndOfNamespace(std::string_view namespace_name) {
  std::string end(namespace_name);
  end += '0';
  return end;
}

// False if the two differ in more than their versions, by their sizes alone: most writes add or remove
// something, and then need not be encoded a second time to find that out.
bool MayBeEqual(const Revision& a, const Revision& b) {
  const auto size = [](const Revision& revision) {
    return static_cast<std::int64_t>(revision.protobuf().size() - std::to_string(revision.version()).size());
  };
  constexpr std::int64_t kLengthBytes = 2;  // a longer version can lengthen the lengths around it
  return std::abs(size(a) - size(b)) <= kLengthBytes;
}

}  // namespace

Store::Store(Options options)
    : options_(options), version_(options.first_version), shelves_(ResourceTable::Get().resources().size()) {
  for (Shelf& shelf : shelves_) shelf.compacted = options.first_version;
}

RevisionPtr Store::Find(const Resource& resource, std::string_view namespace_name,
                        std::string_view name) const {
  const Objects& objects = shelf(resource).objects;
  const auto it = objects.find(ObjectKey(resource, namespace_name, name));
  return it != objects.end() ? it->second : nullptr;
}

base::Result<RevisionPtr> Store::MakeNext(const Resource& resource, json::object& document) const {
  ObjectAt(document, {"metadata"})["resourceVersion"] = std::to_string(version_ + 1);
  return Revision::Make(*resource.storage, document);
}

base::Result<RevisionPtr> Store::Create(const Resource& resource, json::object& document) {
  base::Result<RevisionPtr> made = MakeNext(resource, document);
  if (!made) return made;
  const bool is_new = shelf(resource).objects.emplace((*made)->key(), *made).second;
  BERTH_CHECK(is_new);
  Commit(resource, {wire::WatchType::kAdded, (*made)->version(), *made, nullptr});
  return made;
}

base::Result<RevisionPtr> Store::Replace(const RevisionPtr& current, json::object& document) {
  const Resource& resource = current->resource();
  base::Result<RevisionPtr> made = MakeNext(resource, document);
  if (!made) return made;
  if (MayBeEqual(*current, **made)) {
    // Under the old version, so that equal bytes mean that nothing changed.
    ObjectAt(document, {"metadata"})["resourceVersion"] = std::to_string(current->version());
    const base::Result<RevisionPtr> same = Revision::Make(resource, document);
    if (!same) return same;
    if ((*same)->protobuf() == current->protobuf()) return current;
    ObjectAt(document, {"metadata"})["resourceVersion"] = std::to_string((*made)->version());
  }
  const auto it = shelf(resource).objects.find((*made)->key());
  BERTH_CHECK(it != shelf(resource).objects.end() && it->second == current);
  it->second = *made;
  current->DropText();
  Commit(resource, {wire::WatchType::kModified, (*made)->version(), *made, current});
  return made;
}

RevisionPtr Store::Remove(const RevisionPtr& current) {
  const Resource& resource = current->resource();
  RevisionPtr last = current->WithVersion(version_ + 1);
  const std::size_t removed = shelf(resource).objects.erase(current->key());
  BERTH_CHECK(removed == 1);
  current->DropText();
  Commit(resource, {wire::WatchType::kDeleted, last->version(), last, current});
  return last;
}

void Store::Restore(const RevisionPtr& object) {
  shelf(object->resource()).objects.insert_or_assign(object->key(), object);
}

void Store::RestoreVersion(std::uint64_t version) {
  version_ = version;
  Compact();
}

void Store::ForEachObject(const std::function<void(const RevisionPtr&)>& visit) const {
  for (const Shelf& shelf : shelves_) {
    for (const auto& [key, object] : shelf.objects) visit(object);
  }
}

void Store::Commit(const Resource& resource, Change change) {
  if (journal_ != nullptr) journal_->Append(change);
  version_ = change.version;
  Shelf& shelf = this->shelf(resource);
  shelf.history.push_back(change);
  if (shelf.history.size() > options_.history_max) {
    shelf.compacted = shelf.history.front().version;
    shelf.history.pop_front();
  }
  unannounced_.push_back(std::move(change));
  if (!announcing_) Announce();
}

void Store::Announce() {
  announcing_ = true;
  while (!unannounced_.empty()) {
    const Change change = std::move(unannounced_.front());
    unannounced_.pop_front();
    subscriptions_.Tell(change);
    while (!waits_.empty() && waits_.begin()->first <= change.version) {
      const std::function<void()> callback = std::move(waits_.begin()->second.callback);
      waits_.erase(waits_.begin());
      callback();
    }
  }
  announcing_ = false;
}

std::expected<Store::Page, TooOld> Store::List(const Selection& selection, const Range& range) const {
  const Shelf& shelf = this->shelf(selection.resource());
  const std::uint64_t at = range.at.value_or(version_);
  if (at < shelf.compacted && at < version_) return std::unexpected(TooOld{shelf.compacted});
  // What differed at that time: walked from the newest change back, so the oldest after `at` has the last
  // word.
  std::map<std::string, RevisionPtr, std::less<>> then;
  for (auto it = shelf.history.rbegin(); it != shelf.history.rend() && it->version > at; ++it) {
    then[it->object->key()] = it->previous;
  }
  Page page;
  page.version = at;
  const auto offer = [&](const RevisionPtr& object) {
    if (object == nullptr) return;
    if (range.limit != 0 && page.items.size() == range.limit) {
      // Whether what is left matches is found out by whoever asks for it, as on a server that reads from
      // disk.
      if (!selection.name().empty() && selection.name() != object->name()) return;
      page.more = true;
      if (selection.Matches(*object)) ++page.remaining;
      return;
    }
    if (selection.Matches(*object)) page.items.push_back(object);
  };
  std::string first;
  std::string end;
  if (selection.resource().namespaced && !selection.namespace_name().empty()) {
    first = selection.namespace_name() + "/";
    end = EndOfNamespace(selection.namespace_name());
  }
  const bool behind = range.after >= first && !range.after.empty();
  if (behind) first = range.after;
  auto now = behind ? shelf.objects.upper_bound(first) : shelf.objects.lower_bound(first);
  auto changed = behind ? then.upper_bound(first) : then.lower_bound(first);
  const auto in_range = [&](const std::string& key) { return end.empty() || key < end; };
  while (true) {
    const bool has_now = now != shelf.objects.end() && in_range(now->first);
    const bool has_changed = changed != then.end() && in_range(changed->first);
    if (!has_now && !has_changed) break;
    if (has_changed && (!has_now || changed->first <= now->first)) {
      if (has_now && changed->first == now->first) ++now;
      offer(changed->second);
      ++changed;
    } else {
      offer(now->second);
      ++now;
    }
  }
  return page;
}

void Store::ForEachChangeSince(const Resource& resource, std::uint64_t version,
                               const std::function<void(const Change&)>& visit) const {
  const std::deque<Change>& history = shelf(resource).history;
  const auto first = std::ranges::upper_bound(history, version, {}, &Change::version);
  for (auto it = first; it != history.end(); ++it) visit(*it);
}

void Store::Compact() {
  for (Shelf& shelf : shelves_) {
    shelf.history.clear();
    shelf.compacted = version_;
  }
}

SubscriptionId Store::Subscribe(const Selection& selection, ChangeReceiver& receiver) {
  return subscriptions_.Add(selection, receiver);
}

void Store::Unsubscribe(SubscriptionId id) { subscriptions_.Remove(id); }

std::uint64_t Store::WhenReached(std::uint64_t version, std::function<void()> callback) {
  waits_.emplace(version, Wait{++last_wait_, std::move(callback)});
  return last_wait_;
}

void Store::CancelWait(std::uint64_t id) {
  std::erase_if(waits_, [&](const auto& wait) { return wait.second.id == id; });
}

}  // namespace berth::sandbox
