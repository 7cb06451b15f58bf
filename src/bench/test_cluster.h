#pragma once

// house: heavy-include: values are members here, and the precompiled header of this room has it
#include <boost/json.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/string_map.h"
#include "base/clock.h"
#include "sandbox/object_writer.h"

namespace berth::bench {

// What became of a pod.
struct PodChange {
  std::string_view namespace_name;
  std::string_view name;
  const api::StringMap& labels;
  bool is_gone = false;
  bool is_bound = false;
};

class PodObserver {
 public:
  virtual ~PodObserver() = default;
  virtual void OnPod(const PodChange& change) = 0;
};

// What a scheduler has used so far.
struct Usage {
  base::Duration cpu{};
  std::size_t steps = 0;
};

// A write whose answer matters only if it is a refusal.
struct Write {
  enum class Verb : std::uint8_t { kCreate, kUpdate };

  Verb verb = Verb::kCreate;
  sandbox::Target target;
  boost::json::object document;
  std::string what;             // for errors: "creating a pod"
  std::string_view field = {};  // of the operation, that the object came from; lives for ever
};
// Hears of the first write that was refused, or of null.
using WriteCallback = std::function<void(const Write* refused, const sandbox::StatusError& error)>;

// A control plane with a scheduler on it, as a workload sees both: requests, what becomes of pods, and time,
// which passes only in RunUntil.
class TestCluster {
 public:
  virtual ~TestCluster() = default;

  virtual const base::Clock& clock() const = 0;
  // Before this, objects can be written and nobody schedules.
  virtual void StartScheduler() = 0;
  // Lets the scheduler work until then. The clock may end up later: the scheduler was busy.
  virtual void RunUntil(base::TimePoint end) = 0;

  // The answer is the object's name.
  virtual sandbox::ApiResult<std::string> Create(const sandbox::Target& target,
                                                 boost::json::object document) = 0;
  virtual sandbox::ApiResult<void> Update(const sandbox::Target& target, boost::json::object document) = 0;
  virtual sandbox::ApiResult<void> MergePatch(const sandbox::Target& target,
                                              const boost::json::object& patch) = 0;
  virtual sandbox::ApiResult<void> Delete(const sandbox::Target& target,
                                          std::optional<std::int64_t> grace_seconds) = 0;
  // Nothing if there is no such object.
  virtual std::optional<boost::json::object> Get(const sandbox::Target& target) = 0;
  // In the order of lists.
  virtual std::vector<std::string> NodeNames() = 0;
  // Makes the writes one after another, beside what others are under way; the first refusal ends them.
  virtual void WriteSoon(std::vector<Write> writes, WriteCallback done) = 0;
  // Returns when all of those are answered.
  virtual void Settle() {}
  // Whether the scheduler, or the server for it, has said something about the pod.
  virtual bool IsAttempted(const std::string& namespace_name, const std::string& name) = 0;

  // Told of every change of a pod from now on.
  virtual void SetPodObserver(PodObserver* observer) = 0;
  virtual Usage usage() const = 0;
  // The most memory that the scheduler had at once since the last reset, in bytes.
  virtual std::int64_t PeakMemory() const = 0;
  virtual void ResetPeakMemory() = 0;
  // The scheduler's page of metrics; empty: there is none.
  virtual std::string MetricsText() { return {}; }
  // Lets it finish what follows its bindings. False: what it does after the last one does not count.
  virtual bool AwaitRest() { return false; }
  // What makes it useless to go on, such as a scheduler that ended; empty: nothing.
  virtual std::string Problem() { return {}; }
};

}  // namespace berth::bench
