#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "absl/container/flat_hash_map.h"

#include "api/pod_template.h"
#include "queue/item_store.h"

namespace berth::queue {

// The entities of the unschedulable set, in classes of which an event is judged alike: same profile, same
// template, rejected and gated by the same plugins. So an event costs what it can concern: classes that an
// interested plugin rejected, and inside them the pods only if a hint looks at more than the template.
//
// Classes stay for a while after their last pod left, since pods of a template come and go together; they are
// swept when half of them are empty. A group is a class of its own.
class WaitingIndex {
 public:
  struct ClassKey {
    ItemId group = {};  // invalid: pods
    api::TemplateId pod_template = {};
    ProfileIndex profile = kNoProfile;
    PluginId gating = kNoPlugin;
    // Some pod of it is judged without asking a plugin, so every event concerns it.
    bool always = false;
    PluginSet unschedulable = {};
    PluginSet pending = {};

    bool operator==(const ClassKey&) const = default;
    template <class H>
    friend H AbslHashValue(H state, const ClassKey& key) {
      return H::combine(std::move(state), key.group, key.pod_template, key.profile, key.gating, key.always,
                        key.unschedulable, key.pending);
    }
  };
  struct Class {
    ClassKey key;
    std::vector<ItemId> items;
    std::uint64_t visit = 0;

    PluginSet rejectors() const { return key.unschedulable | key.pending; }
  };

  // Sets the item's class and position.
  void Insert(ItemStore& items, ItemId id, const ClassKey& key);
  void Remove(ItemStore& items, ItemId id);

  // Calls visit(class) once for each class that one of the plugins rejected, and for those that every event
  // concerns. The set must not change meanwhile.
  template <class F>
  void ForEachConcerned(const PluginSet& plugins, F&& visit) {
    ++visit_;
    const auto walk = [&](const std::vector<ClassId>& ids) {
      for (const ClassId id : ids) {
        Class& at = classes_[id.index()];
        if (at.items.empty() || at.visit == visit_) continue;
        at.visit = visit_;
        visit(std::as_const(at));
      }
    };
    walk(always_);
    plugins.ForEach([&](PluginId plugin) {
      if (static_cast<std::size_t>(plugin) < by_plugin_.size())
        walk(by_plugin_[static_cast<std::size_t>(plugin)]);
    });
  }
  template <class F>
  void ForEach(F&& visit) const {
    for (const Class& at : classes_) {
      if (!at.items.empty()) visit(at);
    }
  }
  std::size_t class_count() const { return by_key_.size(); }

 private:
  ClassId Find(const ClassKey& key);
  void Sweep();

  std::vector<Class> classes_;
  std::vector<ClassId> free_;
  absl::flat_hash_map<ClassKey, ClassId> by_key_;
  std::vector<std::vector<ClassId>> by_plugin_;
  std::vector<ClassId> always_;
  std::size_t empty_count_ = 0;
  std::uint64_t visit_ = 0;
};

}  // namespace berth::queue
