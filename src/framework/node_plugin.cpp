#include "framework/node_plugin.h"

#include <cstddef>
#include <utility>
#include <vector>

namespace berth::framework {

void NodeFilter::Filter(const Cycle& cycle, NodeSelection& nodes) const {
  nodes.Judge([&](cluster::NodeRow row) {
    Status status = FilterNode(cycle, row);
    if (status.IsSuccess()) return kAccepted;
    if (!status.IsRejected()) {
      nodes.Fail(row, std::move(status).WithPlugin(Name()));
      return kAccepted;
    }
    // The words are the plugin's own strings, which may go away: all of them travel as parameters.
    std::vector<Reason> reasons;
    for (const std::string& reason : status.reasons()) reasons.push_back({{}, reason});
    return nodes.Intern(status.code(), std::move(reasons));
  });
}

Status NodeScore::Score(const Cycle& cycle, std::span<const cluster::NodeRow> rows,
                        std::span<std::int64_t> scores) const {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const base::Result<std::int64_t> score = ScoreNode(cycle, rows[i]);
    if (!score) return Status::Error(score.error().message);
    scores[i] = *score;
  }
  return {};
}

}  // namespace berth::framework
