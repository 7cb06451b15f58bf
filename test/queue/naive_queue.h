#pragma once

#include <algorithm>
#include <cstdint>
#include <fmt/format.h>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace berth::queue::test {

// The queue as a beginner would write it: one list of pods, every question answered by a walk over it, rules
// written out for the three plugins of the property test. The real queue may be clever only because this one
// agrees with it. Times are milliseconds.
//
//   gate:  keeps out pods that are shut while it is closed; any new node makes it look again
//   color: a new node wakes pods of its color, a deleted pod those of priority 2 and more, an update green
//   pods list:  a new node wakes the pods that it lists
class NaiveQueue {
 public:
  struct Pod {
    std::string name, uid, color;
    int priority = 0;
    bool shut = false;
    std::string place;
    std::int64_t timestamp = 0, sequence = 0;
    std::optional<std::int64_t> flushed_at;
    int attempts = 0, rejections = 0, errors = 0;
    bool was_flushed = false;
    std::set<std::string> unschedulable, pending;
    std::string gating;

    bool RejectedBy(const std::string& plugin) const {
      return unschedulable.contains(plugin) || pending.contains(plugin);
    }
    bool HasRejectors() const { return !unschedulable.empty() || !pending.empty(); }
  };
  struct Event {
    enum Kind { kNodeAdd, kPodDelete, kUpdate, kUnheard, kWildcard } kind = kUnheard;
    std::string label;
    std::string color;             // of the node
    std::set<std::string> listed;  // by the node
    std::string uid;               // whom a wildcard is for; empty: everybody
    std::string updated_uid = {};  // whose update it is
    std::string updated_color = {};
  };

  std::int64_t now = 0;
  bool gate_open = false;
  bool windows = true;
  bool pre_hints = true;

  void Add(const Pod& pod) {
    std::erase_if(pods, [&](const Pod& p) { return p.name == pod.name; });
    pods.push_back(pod);
    Pod& added = pods.back();
    added.timestamp = now;
    added.sequence = ++last_sequence;
    ToActive(added, false);
  }
  void Update(const Pod& to, const std::string& old_color) {
    if (InFlight(to.uid)) {
      list.push_back({"", UpdateEvent(to, old_color)});
      return;
    }
    Pod* pod = Find(to.name);
    if (pod == nullptr || pod->uid != to.uid) return Add(to);
    pod->priority = to.priority;
    pod->color = to.color;
    pod->shut = to.shut;
    if (pod->place == "unschedulable") Requeue(*pod, Judge(*pod, UpdateEvent(to, old_color), false));
  }
  void Delete(const std::string& uid) {
    std::erase_if(pods, [&](const Pod& pod) { return pod.uid == uid; });
  }
  std::optional<Pod> Pop() {
    for (;;) {
      std::vector<Pod> line = Line("active");
      if (line.empty() && windows) line = Line("backoff");
      if (line.empty()) return std::nullopt;
      Pod pod = line.front();
      Delete(pod.uid);
      ++pod.attempts;
      if (InFlight(pod.uid)) continue;
      list.push_back({pod.uid, {}});
      return pod;
    }
  }
  void Done(const std::string& uid) {
    std::erase_if(list, [&](const Entry& entry) { return entry.uid == uid; });
    while (!list.empty() && list.front().uid.empty()) list.erase(list.begin());
  }
  bool Return(Pod pod, const std::set<std::string>& unschedulable, const std::set<std::string>& pending) {
    if (Find(pod.name) != nullptr) {
      Done(pod.uid);
      return false;
    }
    pod.unschedulable = unschedulable;
    pod.pending = pending;
    pod.gating.clear();
    pod.timestamp = now;
    pod.flushed_at.reset();
    pod.was_flushed = false;
    pod.sequence = ++last_sequence;
    pod.place.clear();
    if (pod.HasRejectors()) {
      ++pod.rejections;
      pod.errors = 0;
    } else {
      ++pod.errors;
    }
    const int strategy = Replay(pod);
    pods.push_back(pod);
    Requeue(pods.back(), strategy);
    Done(pod.uid);
    return true;
  }
  void Notify(const Event& event) {
    if (event.kind == Event::kUnheard) return;
    for (Pod& pod : pods) {
      if (pod.place != "unschedulable") continue;
      // Whom only a wildcard or its own plugin's event can free.
      if (!pod.gating.empty() && event.kind != Event::kWildcard && !Hears(pod.gating, event)) continue;
      if (const int strategy = Judge(pod, event, pre_hints); strategy > 0) Requeue(pod, strategy);
    }
    Record(event);
  }
  void Activate(const std::string& name, const std::string& uid) {
    if (Pod* pod = Find(name); pod != nullptr && pod->place != "active") {
      if (ToActive(*pod, pod->place != "unschedulable")) return;
    }
    if (InFlight(uid)) list.push_back({"", {Event::kWildcard, "ForceActivate", "", {}, uid}});
  }
  void FlushBackoff() {
    for (const char* place : {"backoff", "error"}) {
      for (const Pod& copy : Line(place)) {
        Pod& pod = *Find(copy.name);
        if (!BackingOff(pod)) ToActive(pod, true);
      }
    }
  }
  void FlushUnschedulable() {
    bool any = false;
    for (Pod& pod : pods) {
      if (pod.place != "unschedulable" ||
          now - std::max(pod.timestamp, pod.flushed_at.value_or(0)) <= 300'000)
        continue;
      any = true;
      pod.flushed_at = now;
      pod.was_flushed = true;
      Requeue(pod, 1);
    }
    if (any) Record({Event::kWildcard, "UnschedulableTimeout", "", {}, ""});
  }

  // Everything that can be seen, as text.
  std::string Show() const {
    std::string text;
    for (const char* place : {"active", "backoff", "error", "unschedulable"}) {
      text += fmt::format("{}:", place);
      for (const Pod& pod : Line(place)) text += ShowPod(pod);
      text += "\n";
    }
    for (const Entry& entry : list)
      text += entry.uid.empty() ? entry.event.label + " " : "@" + entry.uid + " ";
    return text;
  }
  static std::string ShowPod(const Pod& pod) {
    return fmt::format(" {}[{} t{} a{} r{} e{} {} {} {} {}]", pod.name, pod.uid, pod.timestamp, pod.attempts,
                       pod.rejections, pod.errors, pod.was_flushed ? "flushed" : "", Join(pod.unschedulable),
                       Join(pod.pending), pod.gating);
  }
  static std::string Join(const std::set<std::string>& names) {
    std::string text;
    for (const std::string& name : names) text += name + ",";
    return text.empty() ? "-" : text;
  }

  std::vector<Pod> pods;

 private:
  struct Entry {
    std::string uid;  // a pod, or
    Event event;
  };

  Pod* Find(const std::string& name) {
    const auto found = std::ranges::find(pods, name, &Pod::name);
    return found == pods.end() ? nullptr : &*found;
  }
  bool InFlight(const std::string& uid) const {
    return std::ranges::any_of(list, [&](const Entry& entry) { return entry.uid == uid; });
  }
  void Record(const Event& event) {
    if (std::ranges::any_of(list, [](const Entry& entry) { return !entry.uid.empty(); }))
      list.push_back({"", event});
  }
  static Event UpdateEvent(const Pod& to, const std::string& old_color) {
    return {Event::kUpdate,
            old_color == to.color ? "TargetPodUpdate" : "TargetPodUpdatePodLabel",
            "",
            {},
            "",
            to.uid,
            to.color};
  }
  std::int64_t Expiry(const Pod& pod) const {
    const int count = pod.errors > 0 ? pod.errors : pod.rejections;
    std::int64_t wait = 1000;
    for (int i = 1; i < count; ++i) wait = std::min<std::int64_t>(wait * 2, 16000);
    return pod.timestamp + std::min<std::int64_t>(wait, 10000);
  }
  std::int64_t Window(std::int64_t time) const { return windows ? time / 1000 : time; }
  bool BackingOff(const Pod& pod) const {
    return (pod.errors > 0 || pod.rejections > 0) && Window(Expiry(pod)) >= Window(now);
  }
  bool Passes(Pod& pod) {
    pod.gating = pod.shut && !gate_open ? "gate" : "";
    if (!pod.gating.empty()) pod.unschedulable.insert("gate");
    return pod.gating.empty();
  }
  bool ToActive(Pod& pod, bool from_backoff) {
    if (!(windows && from_backoff) && !Passes(pod)) {
      pod.was_flushed = false;
      pod.place = "unschedulable";
      return false;
    }
    pod.place = "active";
    return true;
  }
  void Requeue(Pod& pod, int strategy) {
    if (strategy == 0) {
      pod.place = "unschedulable";
    } else if (strategy == 1 && BackingOff(pod)) {
      if (windows && !Passes(pod)) {
        pod.was_flushed = false;
        pod.place = "unschedulable";
      } else {
        pod.place = pod.HasRejectors() ? "backoff" : "error";
      }
    } else {
      ToActive(pod, false);
    }
  }
  static bool Hears(const std::string& plugin, const Event& event) {
    if (event.kind == Event::kNodeAdd) return true;
    return plugin == "color";
  }
  int Judge(const Pod& pod, const Event& event, bool narrowed) const {
    if (!pod.HasRejectors()) return 1;
    if (event.kind == Event::kWildcard) return event.uid.empty() || event.uid == pod.uid ? 1 : 0;
    int best = 0;
    for (const std::string plugin : {"gate", "color", "list"}) {
      if (!pod.RejectedBy(plugin) || !Hears(plugin, event)) continue;
      bool queue = true;
      if (plugin == "color") {
        queue = event.kind == Event::kNodeAdd ? pod.color == event.color
                : event.kind == Event::kPodDelete
                    ? pod.priority >= 2
                    : event.updated_uid == pod.uid && event.updated_color == "green";
      }
      if (plugin == "list" && narrowed) queue = event.listed.contains(pod.name);
      if (!queue) continue;
      if (pod.pending.contains(plugin)) return 2;
      best = 1;
    }
    return best;
  }
  int Replay(const Pod& pod) const {
    if (!pod.HasRejectors()) return 1;
    const auto mark = std::ranges::find(list, pod.uid, &Entry::uid);
    if (mark == list.end()) return 1;
    int best = 0;
    for (auto it = mark + 1; it != list.end(); ++it) {
      if (it->uid.empty()) best = std::max(best, Judge(pod, it->event, false));
    }
    return best;
  }
  std::vector<Pod> Line(const std::string& place) const {
    std::vector<Pod> line;
    for (const Pod& pod : pods) {
      if (pod.place == place) line.push_back(pod);
    }
    std::ranges::sort(line, [&](const Pod& a, const Pod& b) {
      if (place == "unschedulable") return a.name < b.name;
      const bool timed = place != "active";
      const auto window = [&](const Pod& pod) { return timed ? Window(Expiry(pod)) : 0; };
      if (window(a) != window(b)) return window(a) < window(b);
      if (place == "error") return a.sequence < b.sequence;
      const bool in_window = place == "backoff" && windows;
      const bool by_priority = place == "active" || in_window;
      if (by_priority && a.priority != b.priority) return a.priority > b.priority;
      if (in_window && Expiry(a) != Expiry(b)) return Expiry(a) < Expiry(b);
      if (!by_priority && a.priority != b.priority) return a.priority > b.priority;
      if (a.timestamp != b.timestamp) return a.timestamp < b.timestamp;
      return a.sequence < b.sequence;
    });
    return line;
  }

  std::vector<Entry> list;
  std::int64_t last_sequence = 0;
};

}  // namespace berth::queue::test
