#include "framework/fit_error.h"

#include <algorithm>
#include <cstdint>
#include <map>

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

// "3 Insufficient cpu", sorted as text: "10 x" comes before "2 y".
std::vector<std::string> Histogram(const Diagnosis& diagnosis) {
  std::map<std::string, std::size_t> reasons;
  std::size_t said = 0;
  ForEachRefusal(CountRefusals(diagnosis), [&](RejectionId id, std::size_t count) {
    said += count;
    for (const Reason& reason : diagnosis.table->Get(id).reasons) reasons[reason.Text()] += count;
  });
  if (said < diagnosis.node_count) {
    for (const std::string& reason : diagnosis.absent.reasons())
      reasons[reason] += diagnosis.node_count - said;
  }
  std::vector<std::string> lines;
  lines.reserve(reasons.size());
  for (const auto& [reason, count] : reasons) lines.push_back(fmt::format("{} {}", count, reason));
  std::ranges::sort(lines);
  return lines;
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

void Diagnosis::AddPluginOf(const Status& status) {
  if (!status.IsRejected() || status.plugin().empty()) return;
  AddName(unschedulable_plugins, status.plugin());
  if (status.code() == Code::kPending) AddName(pending_plugins, status.plugin());
}

void Diagnosis::AddPluginsOfRefusals() {
  ForEachRefusal(CountRefusals(*this), [&](RejectionId id, std::size_t) {
    const Rejection& rejection = table->Get(id);
    AddPluginOf(Status(rejection.code).WithPlugin(plugin_names[rejection.plugin]));
  });
}

std::string FitErrorMessage(const Diagnosis& diagnosis) {
  std::string message = fmt::format("0/{} nodes are available:", diagnosis.node_count);
  if (!diagnosis.pre_filter_message.empty()) {
    message += fmt::format(" {}.", diagnosis.pre_filter_message);
  } else if (const auto histogram = Histogram(diagnosis); !histogram.empty()) {
    message += fmt::format(" {}.", fmt::join(histogram, ", "));
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
