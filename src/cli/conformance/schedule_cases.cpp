#include <algorithm>
#include <boost/json.hpp>
#include <exception>
#include <fmt/ranges.h>
#include <memory>
#include <stdexcept>
#include <variant>

#include "cli/conformance/case_cluster.h"
#include "cli/conformance/case_json.h"
#include "cli/conformance/case_profile.h"
#include "cli/conformance/cases.h"
#include "cli/conformance/preemption_check.h"
#include "cli/conformance/reserved_claims.h"
#include "cli/conformance/reserved_volumes.h"
#include "cli/conformance/status_text.h"

#include "cluster/object_store.h"
#include "framework/decide.h"
#include "plugins/all_plugins.h"

namespace berth::cli {
namespace {

namespace json = boost::json;

using Difference = std::optional<std::string>;

std::string WantedStatus(const json::object& expect, std::string_view key, std::string_view name) {
  const json::value* const all = ValueAt(expect, key);
  const json::value* const one = all == nullptr ? nullptr : ValueAt(all->as_object(), name);
  return one == nullptr ? "nothing" : StatusText(one->as_object());
}

// One case, loaded.
class ScheduleCase {
 public:
  explicit ScheduleCase(const json::object& test_case)
      : expect_(test_case.at("expect").as_object()),
        registry_(plugins::AllPlugins()),
        made_(ReadCaseProfile(test_case, SchedulerName(test_case), registry_)),
        cluster_({.resources = made_.features.ForResources()}) {
    auto profile = framework::Profile::Make(made_.config, registry_,
                                            {made_.features, made_.config.args, cluster_}, rejections_);
    if (!profile) throw std::runtime_error(profile.error().message);
    profile_ = *std::move(profile);
    LoadObjects(test_case.at("objects").as_array(), shared_, cluster_);
    const json::object& target = test_case.at("pod").as_object();
    subject_.pod = cluster_.pods().Find(TextAt(target, "namespace"), TextAt(target, "name"));
    if (!subject_.pod.IsValid()) throw std::runtime_error("the pod is not among the objects");
    subject_.node_name = TextAt(target, "nodeName");
    engine_ = std::make_unique<framework::Engine>(cluster_, *profile_, rejections_,
                                                  framework::EngineOptions{.verify_views = true});
  }

  Difference Check() {
    if (auto difference = CheckMissing()) return difference;
    bool gated = false;
    if (auto difference = CheckPreEnqueue(gated)) return difference;
    if (!gated) {
      const framework::Explanation got = engine_->Explain(subject_);
      if (auto difference = CheckPreFilter(got)) return difference;
      if (expect_.contains("error") && got.filtered) return CheckFilterError(got);
      if (auto difference = CheckFilter(got)) return difference;
      if (auto difference = CheckScores(got)) return difference;
      if (auto difference = CheckFailure(got)) return difference;
      if (auto difference = CheckDecisions(got)) return difference;
      if (auto difference = CheckReservedVolumes(expect_, cluster_, *profile_, engine_->cycle())) {
        return difference;
      }
      if (auto difference = CheckReservedClaims(expect_, {cluster_, *profile_, *engine_, subject_})) {
        return difference;
      }
    }
    return std::nullopt;
  }

 private:
  static std::string SchedulerName(const json::object& test_case) {
    const json::object& target = test_case.at("pod").as_object();
    for (const json::value& value : test_case.at("objects").as_array()) {
      const json::object& object = value.as_object();
      if (TextAt(object, "kind") != "Pod") continue;
      const json::object& metadata = object.at("metadata").as_object();
      if (TextAt(metadata, "name") != TextAt(target, "name") ||
          TextAt(metadata, "namespace") != TextAt(target, "namespace")) {
        continue;
      }
      const std::string_view name = TextAt(object.at("spec").as_object(), "schedulerName");
      if (!name.empty()) return std::string(name);
    }
    return "default-scheduler";
  }

  std::string_view NameOf(cluster::NodeRow row) const { return cluster_.nodes().name(row); }
  std::vector<std::string> NamesOf(const std::vector<cluster::NodeRow>& rows) const {
    std::vector<std::string> names;
    names.reserve(rows.size());
    for (const cluster::NodeRow row : rows) names.emplace_back(NameOf(row));
    return names;
  }

  Difference CheckPreEnqueue(bool& gated) {
    for (const auto& placed : profile_->pre_enqueue()) {
      framework::Status status = placed.point->PreEnqueue({cluster_, subject_.pod});
      const std::string_view name = placed.plugin->Name();
      if (!status.IsSuccess()) gated = true;
      status.SetPlugin(name);
      const std::string got = status.IsSuccess() ? "nothing" : StatusText(status);
      if (auto difference = Compare("preEnqueue", got, WantedStatus(expect_, "preEnqueue", name))) {
        return difference;
      }
    }
    gated = gated || expect_.contains("preEnqueue");
    return std::nullopt;
  }

  Difference CheckPreFilter(const framework::Explanation& got) const {
    const json::object& want = expect_.at("preFilter").as_object();
    if (auto difference = Compare("preFilter", StatusText(got.pre_filter), StatusText(want))) {
      return difference;
    }
    const std::string everything = "all";
    const json::value* const names = ValueAt(want, "nodeNames");
    return Compare("nodeNames", got.narrowed ? fmt::format("{}", *got.narrowed) : everything,
                   names == nullptr ? everything : fmt::format("{}", TextsAt(want, "nodeNames")));
  }

  // One node in error fails the attempt; of several, any one may be the one that is told.
  Difference CheckFilterError(const framework::Explanation& got) {
    const std::string message = got.error.Message();
    bool is_one_of_them = message == TextAt(expect_, "error");
    if (const json::value* const filter = ValueAt(expect_, "filter")) {
      for (const auto& entry : filter->as_object()) {
        const json::object& status = entry.value().as_object();
        if (TextAt(status, "code") != "Error") continue;
        const std::vector<std::string> reasons = TextsAt(status, "reasons");
        is_one_of_them = is_one_of_them || std::ranges::find(reasons, message) != reasons.end();
      }
    }
    if (!is_one_of_them) return Compare("error", message, std::string(TextAt(expect_, "error")));
    return CheckDecisions(got);
  }

  Difference CheckFilter(const framework::Explanation& got) const {
    for (const auto& [row, status] : got.refused) {
      if (auto difference = Compare(fmt::format("filter of {}", NameOf(row)), StatusText(status),
                                    WantedStatus(expect_, "filter", NameOf(row)))) {
        return difference;
      }
    }
    const json::value* const feasible = ValueAt(expect_, "feasible");
    if (auto difference = Compare("filter ran", got.filtered, feasible != nullptr)) return difference;
    if (feasible == nullptr) return std::nullopt;
    return Compare("feasible", NamesOf(got.feasible), TextsAt(expect_, "feasible"));
  }

  // `want` is node -> plugin -> number; `got` the numbers of one plugin for the feasible nodes.
  Difference CheckColumn(std::string_view key, const framework::Explanation& got, std::string_view plugin,
                         const std::vector<std::int64_t>& numbers) const {
    for (std::size_t i = 0; i < got.feasible.size(); ++i) {
      const std::string_view node = NameOf(got.feasible[i]);
      const json::object& want = expect_.at(key).as_object().at(node).as_object();
      const json::value* const number = ValueAt(want, plugin);
      const std::string what = fmt::format("{} of {} for {}", key, plugin, node);
      if (number == nullptr) return fmt::format("{}: got {}, want none", what, numbers[i]);
      if (auto difference = Compare(what, numbers[i], number->to_number<std::int64_t>())) return difference;
    }
    return std::nullopt;
  }

  Difference CheckScores(const framework::Explanation& got) const {
    if (!expect_.contains("scores")) return std::nullopt;
    for (const framework::Explanation::PluginScores& scores : got.scores) {
      if (auto difference = CheckColumn("rawScores", got, scores.plugin, scores.raw)) return difference;
      if (auto difference = CheckColumn("scores", got, scores.plugin, scores.weighted)) return difference;
    }
    for (std::size_t i = 0; i < got.feasible.size(); ++i) {
      const std::string_view node = NameOf(got.feasible[i]);
      for (const auto& entry : expect_.at("scores").as_object().at(node).as_object()) {
        const std::string_view plugin = entry.key();
        const auto has = [&](const auto& scores) { return scores.plugin == plugin; };
        if (!std::ranges::any_of(got.scores, has)) return fmt::format("scores of {}: got none", plugin);
      }
      const std::int64_t want = expect_.at("total").as_object().at(node).to_number<std::int64_t>();
      if (auto difference = Compare(fmt::format("total of {}", node), got.totals[i], want)) return difference;
    }
    if (auto difference = Compare("best", NamesOf(got.best), TextsAt(expect_, "best"))) return difference;
    const std::vector<std::string> suggested = got.nominated ? NamesOf({*got.nominated}) : NamesOf(got.best);
    return Compare("suggestedHosts", suggested, TextsAt(expect_, "suggestedHosts"));
  }

  Difference CheckFailure(const framework::Explanation& got) const {
    if (auto difference = Compare("unschedulablePlugins", got.unschedulable_plugins,
                                  TextsAt(expect_, "unschedulablePlugins"))) {
      return difference;
    }
    if (auto difference =
            Compare("pendingPlugins", got.pending_plugins, TextsAt(expect_, "pendingPlugins"))) {
      return difference;
    }
    if (!expect_.contains("postFilter")) {
      if (auto difference = Compare("fitErrorMessage", got.fit_error_message,
                                    std::string(TextAt(expect_, "fitErrorMessage")))) {
        return difference;
      }
    }
    return Compare("error", got.error.Message(), std::string(TextAt(expect_, "error")));
  }

  // Three times: without a view, keeping one, and with the kept one, which is compared with a full
  // evaluation.
  Difference CheckDecisions(const framework::Explanation& explained) {
    for (int attempt = 1; attempt <= 3; ++attempt) {
      const framework::Outcome outcome = engine_->SchedulePod(subject_);
      const std::string what = fmt::format("attempt {}", attempt);
      if (const auto* decision = std::get_if<framework::Decision>(&outcome)) {
        const auto allowed = explained.nominated ? std::vector{*explained.nominated} : explained.best;
        if (std::ranges::find(allowed, decision->row) == allowed.end()) {
          return fmt::format("{}: chose {}, want one of {}", what, NameOf(decision->row), NamesOf(allowed));
        }
      } else if (const auto* diagnosis = std::get_if<framework::Diagnosis>(&outcome)) {
        if (auto difference =
                Compare(what, framework::FitErrorMessage(*diagnosis), explained.fit_error_message)) {
          return difference;
        }
        if (auto difference = CheckMadeRoom(*diagnosis)) return fmt::format("{}: {}", what, *difference);
      } else if (auto difference = Compare(what, std::get<framework::Status>(outcome).Message(),
                                           explained.error.Message())) {
        return difference;
      }
    }
    return std::nullopt;
  }

  Difference CheckMadeRoom(const framework::Diagnosis& diagnosis) {
    const json::value* const want = ValueAt(expect_, "postFilter");
    if (want == nullptr) return std::nullopt;
    const std::vector<std::string> quirks = TextsAt(expect_, "quirks");
    return CheckPostFilter(
        {cluster_, *profile_, engine_->cycle(), diagnosis},
        {.answer = want->as_object(),
         .fit_error_message = std::string(TextAt(expect_, "fitErrorMessage")),
         .is_spoilt = std::ranges::find(quirks, "dynamicresources-postfilter-not-found") != quirks.end()});
  }

  Difference CheckMissing() const {
    if (made_.missing.empty()) return std::nullopt;
    return fmt::format("{}{}", kNotDecided, made_.missing.front());
  }

  const json::object& expect_;
  framework::Registry registry_;
  CaseProfile made_;
  api::SharedParts shared_;
  cluster::Cluster cluster_;
  framework::RejectionTable rejections_;
  std::unique_ptr<const framework::Profile> profile_;
  framework::Cycle::Subject subject_;
  std::unique_ptr<framework::Engine> engine_;
};

}  // namespace

std::optional<std::string> CheckScheduleCase(const boost::json::object& test_case) {
  try {
    return ScheduleCase(test_case).Check();
  } catch (const std::exception& error) {
    return fmt::format("cannot read the case: {}", error.what());
  }
}

}  // namespace berth::cli
