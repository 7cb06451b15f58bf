#include <fmt/format.h>
#include <utility>

#include "bench/operations.h"

namespace berth::bench {
namespace {

// Replaces the parameters of an operation by their values. Remembers the first that fails.
class Resolver {
 public:
  explicit Resolver(Params& params) : params_(params) {}

  void operator()(CreateNodes& op) {
    Resolve(op.count, "Count");
    Resolve(op.template_params);
  }
  void operator()(CreateNamespaces& op) { Resolve(op.count, "Count"); }
  void operator()(CreatePods& op) {
    Resolve(op.count, "Count");
    if (!op.count_multiplier_param.empty()) {
      op.count.value = op.count.number() *
                       Keep("countMultiplierParam", params_.Integer(NameIn(op.count_multiplier_param)));
      op.count_multiplier_param.clear();
      CheckCount(op.count, "Count");
    }
    Resolve(op.signature_batch_size, "SignatureBatchSize");
    if (op.signature_batch_size.number() == 0) op.signature_batch_size.value = 1;
    if (!op.duration_param.empty())
      op.duration = Keep("durationParam", params_.Duration(NameIn(op.duration_param)));
    if (!op.steady_state_param.empty()) {
      op.steady_state = Keep("steadyStateParam", params_.Flag(NameIn(op.steady_state_param)));
    }
    Resolve(op.template_params);
    if (op.steady_state && op.skip_wait) {
      Refuse("skipWaitToCompletion and steadyState cannot be true at the same time");
    }
    if (op.steady_state && op.duration.count() <= 0) {
      Refuse("when creating pods in a steady state, the test duration must be > 0");
    }
  }
  void operator()(CreatePodSets& op) {
    Resolve(op.count, "Count");
    (*this)(op.pods);
  }
  void operator()(CreatePodGroups& op) {
    Resolve(op.count, "Count");
    if (op.count.number() <= 0)
      Refuse(fmt::format("count must be greater than 0, got {}", op.count.number()));
    Resolve(op.template_params);
  }
  void operator()(CreateResourceClaims& op) { Resolve(op.count, "Count"); }
  void operator()(CreateAny& op) {
    Resolve(op.count, "Count");
    Resolve(op.template_params);
  }
  void operator()(UpdateAny& op) { Resolve(op.count, "Count"); }
  void operator()(Sleep& op) {
    if (!op.duration_param.empty())
      op.duration = Keep("durationParam", params_.Duration(NameIn(op.duration_param)));
  }
  // The others have no parameters.
  void operator()(auto&) {}

  base::Result<void> Finish() {
    if (!error_.empty()) return base::Fail(error_);
    return {};
  }

 private:
  // "$name" without its first character, whatever that is: where upstream does not look at it either.
  static std::string_view NameIn(const std::string& param) { return std::string_view(param).substr(1); }

  void Refuse(std::string why) {
    if (error_.empty()) error_ = std::move(why);
  }
  template <class T>
  T Keep(std::string_view field, base::Result<T> result) {
    if (result) return *std::move(result);
    Refuse(fmt::format("field \"{}\": {}", field, result.error().message));
    return T{};
  }
  void CheckCount(const Count& count, std::string_view name) {
    if (count.number() < 0) Refuse(fmt::format("invalid {}={} / {}Param=\"\"", name, count.number(), name));
  }
  void Resolve(Count& count, std::string_view name) {
    if (!count.param.empty()) {
      std::string field = fmt::format("{}Param", name);
      field[0] = static_cast<char>(field[0] - 'A' + 'a');
      count.value = Keep(field, params_.Integer(NameIn(count.param)));
    }
    count.param.clear();
    CheckCount(count, name);
  }
  void Resolve(boost::json::object& template_params) {
    template_params = Keep("templateParams", params_.Resolve(template_params));
  }

  Params& params_;
  std::string error_;
};

}  // namespace

base::Result<std::vector<Operation>> Unroll(const std::vector<Operation>& operations, Params& params) {
  std::vector<Operation> unrolled;
  for (std::size_t i = 0; i < operations.size(); ++i) {
    Operation operation = operations[i];
    Resolver resolver(params);
    std::visit(resolver, operation.action);
    if (auto finished = resolver.Finish(); !finished) {
      return base::Fail(fmt::format("op {} ({}): {}", i, operation.opcode, finished.error().message));
    }
    const auto* const sets = std::get_if<CreatePodSets>(&operation.action);
    if (sets == nullptr) {
      unrolled.push_back(std::move(operation));
      continue;
    }
    for (std::int64_t set = 0; set < sets->count.number(); ++set) {
      CreatePods pods = sets->pods;
      pods.namespace_name = fmt::format("{}-{}", sets->namespace_prefix, set);
      unrolled.push_back({.opcode = "createPods", .action = std::move(pods)});
    }
  }
  return unrolled;
}

}  // namespace berth::bench
