#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "bench/collection.h"
#include "bench/load_clock.h"
#include "bench/node_maker.h"
#include "bench/object_template.h"
#include "bench/pod_ledger.h"
#include "bench/pod_maker.h"
#include "bench/requirements.h"
#include "bench/test_cluster.h"
#include "bench/workload_file.h"

namespace berth::bench {

struct RunOptions {
  double requests_per_second = 5000;  // of the workload; 0: any number at once
  std::uint64_t seed = 1;
  // The scheduler starts only when the pods to be measured are there: what it decides is then measured apart
  // from how fast pods come.
  bool precreate = false;
  Abilities abilities = {};
  // Where pods come at a rate that the runner sets, upstream's throughput says more about that rate than
  // about the scheduler.
  bool check_thresholds = true;
  std::function<bool()> is_interrupted = [] { return false; };
  // Once a second while something is measured: how many of its pods have a node.
  std::function<void(std::size_t bound)> on_progress = [](std::size_t) {};
};

// What a run came to.
struct RunResults {
  std::vector<std::string> failures;  // empty: it passed
  std::vector<Measurement> measurements;
  std::vector<DataItem> items;
};

// Runs the operations of one workload against a cluster, one after another. The first that fails ends it; a
// missed threshold, or a failure of what happens beside, does not.
class Runner {
 public:
  // All outlive it.
  Runner(const WorkloadFile& file, const TestCase& test_case, const Workload& workload, TestCluster& cluster,
         RunOptions options);
  ~Runner();
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  RunResults Run();
  // Every pod that it has seen.
  const PodLedger& ledger() const { return ledger_; }

 private:
  using Done = base::Result<void>;

  Done RunAll();
  Done Do(const CreateNodes& op);
  Done Do(const CreateNamespaces& op);
  Done Do(const CreatePods& op);
  Done Do(const CreatePodSets& op);
  Done Do(const CreatePodGroups& op);
  Done Do(const CreateResourceClaims& op);
  Done Do(const AllocateResourceClaims& op);
  Done Do(const CreateAny& op);
  Done Do(const UpdateAny& op);
  Done Do(const DeletePods& op);
  Done Do(const Churn& op);
  Done Do(const Barrier& op);
  Done Do(const Sleep& op);
  Done Do(const StartCollectingMetrics& op);
  Done Do(const StopCollectingMetrics& op);
  Done Do(const StartCollectingProfile& op);
  Done Do(const StopCollectingProfile& op);

  // Creates it unless an operation has done so and no barrier has forgotten it since.
  Done EnsureNamespace(const std::string& name);
  sandbox::ApiResult<std::string> CreateNamespace(const std::string& name, boost::json::object document);
  // Of the operation that runs.
  std::string DefaultNamespace() const;
  Done CreateAll(const PodMaker& maker, const std::string& namespace_name, std::int64_t count);
  // Fails if somebody stopped the run, or if it has become useless.
  Done MayGoOn();
  Done CreateSteadily(const CreatePods& op, const PodMaker& maker, const std::string& namespace_name);
  void AwaitSeen(const std::string& namespace_name, std::size_t count, base::Duration timeout);
  struct Wanted {
    std::size_t count;
    // Those that have gone since are not waited for: a pod that was evicted for a more important one, maybe
    // on its way to its node, does not come back. Upstream waits for it until the workload fails.
    std::optional<std::size_t> gone_before = std::nullopt;
  };
  Done AwaitScheduled(const std::string& namespace_name, const LabelSet& labels, Wanted wanted,
                      base::Duration timeout);
  Done AwaitAttempted(const std::string& namespace_name, const LabelSet& labels, std::size_t count);
  // Waits until it holds; the error names a pod that is not there yet. Starts the scheduler, if that was put
  // off.
  Done Await(base::Duration timeout, const std::function<bool()>& holds,
             const std::function<std::string()>& what_is_missing);
  void EnsureScheduler();
  Done StartCollection(Collection::Scope scope);
  // `is_whole`: all that it was to see has happened, so that it may be held against a threshold.
  void FinishCollection(bool is_whole = true);
  Done UpdateOne(const UpdateAny& op, const ObjectTemplate& source, std::int64_t index);
  // The template's object and where it belongs.
  struct FreeObject {
    sandbox::Target target;
    boost::json::object document;
  };
  // `path`: of the template, which the operation has in its field `path_field`.
  struct FreeSource {
    const ObjectTemplate& source;
    const std::string& path;
    std::string path_field = "templatePath";
  };
  base::Result<FreeObject> MakeFree(const FreeSource& source, const boost::json::object& data,
                                    const std::string& namespace_name);
  std::string path() const { return "BenchmarkPerfScheduling/" + test_case_.name + "/" + workload_.name; }

  const WorkloadFile& file_;
  const TestCase& test_case_;
  const Workload& workload_;
  TestCluster& cluster_;
  const RunOptions options_;
  LoadClock clock_;
  PodLedger ledger_;
  NodeMaker nodes_;
  Params params_;
  std::size_t op_index_ = 0;
  std::string place_;                     // of the operation that runs, in its file
  std::vector<sandbox::Target> devices_;  // that operations created: classes, slices, claims
  // Namespaces that operations made, and how many pods in each nobody has waited for.
  std::map<std::string, std::size_t> unwaited_;
  std::unique_ptr<Collection> collection_;
  std::vector<std::string> newly_bound_;  // in the namespace of a steady state
  std::string steady_namespace_;
  bool has_scheduler_ = false;
  RunResults results_;
};

}  // namespace berth::bench
