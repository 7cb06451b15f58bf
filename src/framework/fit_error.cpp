#include "framework/fit_error.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <utility>

#include "fmt/format.h"
#include "fmt/ranges.h"

namespace berth::framework {
namespace {

// How many rows have each refusal, by id, so that reasons become text once per distinct refusal.
std::vector<std::size_t> CountRefusals(const Diagnosis& diagnosis) {
  std::vector<std::size_t> counts;
  if (diagnosis.table == nullptr) return counts;
  counts.resize(diagnosis.table->size() + 1);
  for (const RejectionId id : diagnosis.refusals) {
    if (id.IsRefusal()) ++counts[id.value()];
  }
  return counts;
}

template <class F>
void ForEachRefusal(const std::vector<std::size_t>& counts, F&& visit) {
  for (std::size_t id = 1; id < counts.size(); ++id) {
    if (counts[id] > 0) visit(RejectionId(static_cast<std::uint16_t>(id)), counts[id]);
  }
}

void AddRejector(Diagnosis& diagnosis, Code code, std::string_view plugin) {
  if (!Status(code).IsRejected() || plugin.empty()) return;
  AddName(diagnosis.unschedulable_plugins, plugin);
  if (code == Code::kPending) AddName(diagnosis.pending_plugins, plugin);
}

struct Counted {
  std::string_view reason;
  std::size_t count;
};

// " 10 Too many pods, 3 Insufficient cpu." to the message; nothing without reasons.
void AppendHistogram(std::string& message, const Diagnosis& diagnosis) {
  std::vector<Counted> counted;
  std::deque<std::string> made;  // reasons that are no text by themselves
  std::size_t said = 0;
  ForEachRefusal(CountRefusals(diagnosis), [&](RejectionId id, std::size_t count) {
    said += count;
    for (const Reason& reason : diagnosis.table->Get(id).reasons) {
      const bool is_whole = reason.parameter.empty();
      counted.push_back({is_whole ? reason.words : made.emplace_back(reason.Text()), count});
    }
  });
  if (said < diagnosis.node_count) {
    for (const std::string& reason : diagnosis.absent.reasons()) {
      counted.push_back({reason, diagnosis.node_count - said});
    }
  }
  std::ranges::sort(counted, {}, &Counted::reason);
  std::vector<std::string> lines;
  lines.reserve(counted.size());
  for (std::size_t i = 0; i < counted.size(); ++i) {
    const bool is_last = i + 1 == counted.size() || counted[i + 1].reason != counted[i].reason;
    if (is_last) {
      lines.push_back(fmt::format("{} {}", counted[i].count, counted[i].reason));
    } else {
      counted[i + 1].count += counted[i].count;
    }
  }
  // As text: "10 x" comes before "2 y".
  std::ranges::sort(lines);
  std::string_view before = " ";
  for (const std::string& line : lines) {
    message += std::exchange(before, ", ");
    message += line;
  }
  if (!lines.empty()) message += '.';
}

}  // namespace

void AddName(PluginNames& names, std::string_view name) {
  const auto place = std::ranges::lower_bound(names, name);
  if (place == names.end() || *place != name) names.emplace(place, name);
}

Status Diagnosis::StatusOf(cluster::NodeRow row) const {
  if (row.index() < refusals.size() && refusals[row.index()].IsRefusal()) {
    const RejectionId id = refusals[row.index()];
    return table->ToStatus(id, plugin_names[table->Get(id).plugin]);
  }
  return absent;
}

Code Diagnosis::CodeOf(cluster::NodeRow row) const {
  if (row.index() < refusals.size() && refusals[row.index()].IsRefusal()) {
    return table->Get(refusals[row.index()]).code;
  }
  return absent.code();
}

void Diagnosis::AddPluginOf(const Status& status) { AddRejector(*this, status.code(), status.plugin()); }

void Diagnosis::AddPluginsOfRefusals() {
  ForEachRefusal(CountRefusals(*this), [&](RejectionId id, std::size_t) {
    const Rejection& rejection = table->Get(id);
    AddRejector(*this, rejection.code, plugin_names[rejection.plugin]);
  });
}

std::string FitErrorMessage(const Diagnosis& diagnosis) {
  std::string message = fmt::format("0/{} nodes are available:", diagnosis.node_count);
  if (!diagnosis.pre_filter_message.empty()) {
    message += fmt::format(" {}.", diagnosis.pre_filter_message);
  } else {
    AppendHistogram(message, diagnosis);
  }
  if (!diagnosis.post_filter_message.empty()) message += ' ' + diagnosis.post_filter_message;
  return message;
}

std::string OutsideNarrowedMessage(const PluginNames& narrowing) {
  return fmt::format("node(s) didn't satisfy plugin(s) [{}]", fmt::join(narrowing, " "));
}

std::string NothingLeftMessage(const PluginNames& narrowing) {
  if (narrowing.size() == 1) return fmt::format("node(s) didn't satisfy plugin {}", narrowing.front());
  return OutsideNarrowedMessage(narrowing) + " simultaneously";
}

}  // namespace berth::framework
