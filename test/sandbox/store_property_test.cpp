#include <boost/json.hpp>
#include <gtest/gtest.h>
#include <map>
#include <rapidcheck.h>
#include <set>

#include "sandbox/document.h"
#include "sandbox/store.h"

// The store against the plainest model there is, and lists against watches: whoever lists at one time and
// applies the events since must see what a list sees now.
namespace berth::sandbox {
namespace {

namespace json = boost::json;

using Objects = std::map<std::string, std::uint64_t>;  // key to version

const Resource& Pods() { return ResourceOf("v1", "Pod"); }

Objects AsObjects(const Store::Page& page) {
  Objects objects;
  for (const RevisionPtr& item : page.items) objects[item->key()] = item->version();
  return objects;
}

// Applies events as a reflector does.
class Reflector final : public ChangeReceiver {
 public:
  explicit Reflector(Selection selection) : selection_(std::move(selection)) {}
  void OnChange(const Change& change, ChangeFrames&) override {
    RC_ASSERT(change.version > last_);
    last_ = change.version;
    const auto type = EventFor(change, [&](const Revision& object) { return selection_.Matches(object); });
    if (!type) return;
    const std::string& key = change.object->key();
    if (*type == wire::WatchType::kDeleted) {
      RC_ASSERT(seen_.erase(key) == 1U);
    } else {
      RC_ASSERT(seen_.contains(key) == (*type == wire::WatchType::kModified));
      seen_[key] = change.object->version();
    }
  }
  void StartFrom(const Store::Page& page) {
    seen_ = AsObjects(page);
    last_ = page.version;
  }
  const Objects& seen() const { return seen_; }

 private:
  Selection selection_;
  Objects seen_;
  std::uint64_t last_ = 0;
};

json::object PodDocument(std::string_view namespace_name, std::string_view name, std::string_view node,
                         std::string_view label) {
  json::object pod;
  json::object& metadata = ObjectAt(pod, {"metadata"});
  metadata["name"] = name;
  metadata["namespace"] = namespace_name;
  metadata["labels"] = json::object({{"l", json::string(label)}});
  ObjectAt(pod, {"spec"})["nodeName"] = node;
  return pod;
}

std::string Pick(std::initializer_list<const char*> names) {
  return *rc::gen::elementOf(std::vector<std::string>(names.begin(), names.end()));
}

// One random write; the model is the set of what exists.
void Write(Store& store) {
  const std::string namespace_name = Pick({"a", "a-b", "b"});
  const std::string name = Pick({"p", "p-q", "q", "r"});
  json::object document = PodDocument(namespace_name, name, Pick({"", "n1", "n2"}), Pick({"x", "y"}));
  const RevisionPtr current = store.Find(Pods(), namespace_name, name);
  if (current == nullptr) {
    RC_ASSERT(store.Create(Pods(), document).has_value());
  } else if (*rc::gen::inRange(0, 3) == 0) {
    store.Remove(current);
  } else {
    const std::uint64_t before = store.version();
    const auto replaced = store.Replace(current, document);
    RC_ASSERT(replaced.has_value());
    RC_ASSERT((*replaced == current) == (store.version() == before));
  }
}

Selection AnySelection() {
  const std::string namespace_name = Pick({"", "a", "b"});
  const std::string fields = Pick({"", "spec.nodeName=n1", "metadata.name=p", "spec.nodeName!=n1"});
  const std::string labels = Pick({"", "l=x"});
  auto selection = Selection::Make(
      Pods(), {.namespace_name = namespace_name, .label_selector = labels, .field_selector = fields});
  RC_ASSERT(selection.has_value());
  return std::move(*selection);
}

TEST(StoreProperty, EventsAppliedToAListGiveTheLaterList) {
  EXPECT_TRUE(rc::check("list + watch = later list", [] {
    Store store;
    for (int i = *rc::gen::inRange(0, 20); i > 0; --i) Write(store);
    std::vector<std::unique_ptr<Reflector>> reflectors;
    std::vector<Selection> selections;
    std::vector<SubscriptionId> subscriptions;
    for (int i = 0; i < 4; ++i) {
      selections.push_back(AnySelection());
      reflectors.push_back(std::make_unique<Reflector>(selections.back()));
      reflectors.back()->StartFrom(*store.List(selections.back()));
      subscriptions.push_back(store.Subscribe(selections.back(), *reflectors.back()));
    }
    for (int i = *rc::gen::inRange(0, 60); i > 0; --i) Write(store);
    for (std::size_t i = 0; i < reflectors.size(); ++i) {
      RC_ASSERT(reflectors[i]->seen() == AsObjects(*store.List(selections[i])));
      store.Unsubscribe(subscriptions[i]);
    }
    RC_ASSERT(store.subscription_count() == 0U);
  }));
}

TEST(StoreProperty, ListOfAPastVersionIsWhatWasThere) {
  EXPECT_TRUE(rc::check("list at a version = list then", [] {
    Store store({.history_max = 30});
    const Selection everything = AnySelection();
    std::map<std::uint64_t, Objects> past;
    for (int i = *rc::gen::inRange(0, 60); i > 0; --i) {
      Write(store);
      past[store.version()] = AsObjects(*store.List(everything));
    }
    for (const auto& [version, objects] : past) {
      const auto page = store.List(everything, {.at = version});
      RC_ASSERT(page.has_value() == (version >= store.compacted(Pods())));
      if (page) RC_ASSERT(AsObjects(*page) == objects);
    }
  }));
}

TEST(StoreProperty, PagesTogetherAreTheWholeList) {
  EXPECT_TRUE(rc::check("pages = list", [] {
    Store store;
    for (int i = *rc::gen::inRange(0, 40); i > 0; --i) Write(store);
    const Selection selection = AnySelection();
    const auto whole = store.List(selection);
    const std::size_t limit = *rc::gen::inRange<std::size_t>(1, 5);
    std::vector<RevisionPtr> items;
    std::string after;
    while (true) {
      const auto page = store.List(selection, {.at = whole->version, .after = after, .limit = limit});
      RC_ASSERT(page.has_value());
      items.insert(items.end(), page->items.begin(), page->items.end());
      RC_ASSERT(page->remaining == whole->items.size() - items.size());
      if (!page->more) break;
      after = page->items.back()->key();
      if (*rc::gen::arbitrary<bool>()) Write(store);
    }
    RC_ASSERT(items == whole->items);
  }));
}

TEST(Store, WriteThatChangesNothingTakesNoVersion) {
  Store store;
  json::object document = PodDocument("a", "p", "n", "x");
  const RevisionPtr first = *store.Create(Pods(), document);
  json::object same = PodDocument("a", "p", "n", "x");
  EXPECT_EQ(*store.Replace(first, same), first);
  EXPECT_EQ(store.version(), first->version());
}

TEST(Store, VersionsGrowOverAllResources) {
  Store store({.first_version = 7});
  json::object pod = PodDocument("a", "p", "", "x");
  EXPECT_EQ((*store.Create(Pods(), pod))->version(), 8U);
  json::object node;
  ObjectAt(node, {"metadata"})["name"] = "n";
  EXPECT_EQ((*store.Create(ResourceOf("v1", "Node"), node))->version(), 9U);
}

TEST(Store, WritesOfAReceiverAreAnnouncedBehindTheChangeThatCausedThem) {
  // Answers every new pod with one more, twice.
  struct Copier final : ChangeReceiver {
    explicit Copier(Store& s) : store(s) {}
    void OnChange(const Change& change, ChangeFrames&) override {
      if (change.type != wire::WatchType::kAdded || made == 2) return;
      json::object next = PodDocument("a", "copy-" + std::to_string(++made), "", "x");
      EXPECT_TRUE(store.Create(Pods(), next).has_value());
    }
    Store& store;
    int made = 0;
  };
  struct Listener final : ChangeReceiver {
    void OnChange(const Change& change, ChangeFrames&) override { versions.push_back(change.version); }
    std::vector<std::uint64_t> versions;
  };
  Store store;
  Copier copier(store);
  Listener listener;
  const SubscriptionId first = store.Subscribe(Selection(Pods()), copier);
  const SubscriptionId second = store.Subscribe(Selection(Pods()), listener);
  json::object document = PodDocument("a", "p", "", "x");
  ASSERT_TRUE(store.Create(Pods(), document).has_value());
  EXPECT_EQ(listener.versions, (std::vector<std::uint64_t>{2, 3, 4}));
  store.Unsubscribe(first);
  store.Unsubscribe(second);
}

}  // namespace
}  // namespace berth::sandbox
