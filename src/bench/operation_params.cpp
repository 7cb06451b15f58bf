#include <fmt/format.h>
#include <utility>

#include "bench/field_reader.h"
#include "bench/operations.h"

namespace berth::bench {
namespace {

// Replaces the parameters of an operation by their values. Remembers the first that fails.
class Resolver {
 public:
  explicit Resolver(Params& params) : params_(params) {}

  void operator()(CreateNodes& op) {
    Resolve(op.count, "count");
    Resolve(op.template_params);
  }
  void operator()(CreateNamespaces& op) { Resolve(op.count, "count"); }
  void operator()(CreatePods& op) {
    Resolve(op.count, "count");
    if (!op.count_multiplier_param.empty()) Multiply(op);
    Resolve(op.signature_batch_size, "signatureBatchSize");
    if (op.signature_batch_size.number() == 0) op.signature_batch_size.value = 1;
    if (!op.duration_param.empty())
      op.duration = Keep("durationParam", params_.Duration(NameIn(op.duration_param)));
    if (!op.steady_state_param.empty()) {
      op.steady_state = Keep("steadyStateParam", params_.Flag(NameIn(op.steady_state_param)));
    }
    Resolve(op.template_params);
    if (op.steady_state && op.skip_wait) {
      Refuse("skipWaitToCompletion", "skipWaitToCompletion and steadyState cannot be true at the same time");
    }
    if (op.steady_state && op.duration.count() <= 0) {
      Refuse(op.duration_param.empty() ? "duration" : "durationParam",
             "when creating pods in a steady state, the test duration must be > 0");
    }
  }
  void operator()(CreatePodSets& op) {
    Resolve(op.count, "count");
    prefix_ = "createPodsOp.";
    (*this)(op.pods);
    prefix_.clear();
  }
  void operator()(CreatePodGroups& op) {
    const std::string_view field = op.count.param.empty() ? "count" : "countParam";
    Resolve(op.count, "count");
    if (op.count.number() <= 0)
      Refuse(field, fmt::format("count must be greater than 0, got {}", op.count.number()));
    Resolve(op.template_params);
  }
  void operator()(CreateResourceClaims& op) { Resolve(op.count, "count"); }
  void operator()(CreateAny& op) {
    Resolve(op.count, "count");
    Resolve(op.template_params);
  }
  void operator()(UpdateAny& op) { Resolve(op.count, "count"); }
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

  void Refuse(std::string_view field, std::string_view why) {
    if (error_.empty()) error_ = FailIn(prefix_ + std::string(field), why).error().message;
  }
  template <class T>
  T Keep(std::string_view field, base::Result<T> result) {
    if (result) return *std::move(result);
    Refuse(field, result.error().message);
    return T{};
  }
  void Resolve(Count& count, std::string_view field) {
    const std::string param_field = std::string(field) + "Param";
    if (!count.param.empty()) count.value = Keep(param_field, params_.Integer(NameIn(count.param)));
    if (count.number() < 0) Refuse(count.param.empty() ? field : param_field, InvalidCountText(field, count));
    count.param.clear();
  }
  void Multiply(CreatePods& op) {
    constexpr std::string_view kField = "countMultiplierParam";
    const std::int64_t factor = Keep(kField, params_.Integer(NameIn(op.count_multiplier_param)));
    std::int64_t product = 0;
    if (__builtin_mul_overflow(op.count.number(), factor, &product)) {
      Refuse(kField, fmt::format("{} times {} pods are too many", factor, op.count.number()));
    }
    op.count.value = product;
    if (product < 0) Refuse(kField, InvalidCountText("count", op.count));
    op.count_multiplier_param.clear();
  }
  void Resolve(boost::json::object& template_params) {
    for (auto& member : template_params) {
      member.value() = Keep(fmt::format("templateParams.{}", std::string_view(member.key())),
                            params_.Resolve(member.value()));
    }
  }

  Params& params_;
  std::string prefix_;  // of the fields of an operation inside another
  std::string error_;
};

}  // namespace

base::Result<std::vector<Operation>> Unroll(const std::vector<Operation>& operations, Params& params) {
  std::vector<Operation> unrolled;
  for (std::size_t i = 0; i < operations.size(); ++i) {
    Operation operation = operations[i];
    Resolver resolver(params);
    std::visit(resolver, operation.action);
    operation.place = fmt::format("op {} ({})", i, operation.opcode);
    if (auto finished = resolver.Finish(); !finished) {
      return base::Fail(fmt::format("{}: {}", operation.place, finished.error().message));
    }
    const auto* const sets = std::get_if<CreatePodSets>(&operation.action);
    if (sets == nullptr) {
      unrolled.push_back(std::move(operation));
      continue;
    }
    for (std::int64_t set = 0; set < sets->count.number(); ++set) {
      CreatePods pods = sets->pods;
      pods.namespace_name = fmt::format("{}-{}", sets->namespace_prefix, set);
      unrolled.push_back({.opcode = "createPods",
                          .action = std::move(pods),
                          .place = fmt::format("{}, set {}", operation.place, set)});
    }
  }
  return unrolled;
}

}  // namespace berth::bench
