#include "config/validation.h"

#include "config_bed.h"

namespace berth::config {
namespace {

struct ValidationCase {
  std::string_view name;
  std::string text;
  std::string want;
};

class Validation : public testing::TestWithParam<ValidationCase> {};

TEST_P(Validation, SaysWhatKubeSchedulerSays) {
  EXPECT_EQ(ValidationError(GetParam().text), GetParam().want);
}

// Cases 7 to 11 and 14 to 16 of the chapter.
INSTANTIATE_TEST_SUITE_P(
    Config, Validation,
    testing::Values(
        ValidationCase{"NoParallelism", File("parallelism: 0\n"),
                       "parallelism: Invalid value: 0: should be an integer value greater than zero"},
        ValidationCase{"PercentageAbove", File("percentageOfNodesToScore: 101\n"),
                       "percentageOfNodesToScore: Invalid value: 101: not in valid range [0-100]"},
        ValidationCase{"PercentageBelow", File("percentageOfNodesToScore: -1\n"),
                       "percentageOfNodesToScore: Invalid value: -1: not in valid range [0-100]"},
        ValidationCase{
            "PercentageAboveInProfile", InProfile("percentageOfNodesToScore: 101"),
            "profiles[0].percentageOfNodesToScore: Invalid value: 101: not in valid range [0-100]"},
        ValidationCase{"PercentageOfNone", InProfile("percentageOfNodesToScore: 0"), ""},
        ValidationCase{"PercentageBelowInProfile", InProfile("percentageOfNodesToScore: -1"),
                       "profiles[0].percentageOfNodesToScore: Invalid value: -1: not in valid range [0-100]"},
        ValidationCase{"PercentageAtItsEnd", InProfile("percentageOfNodesToScore: 100"), ""},
        ValidationCase{"NoInitialBackoff", File("podInitialBackoffSeconds: 0\n"),
                       "podInitialBackoffSeconds: Invalid value: 0: must be greater than 0"},
        ValidationCase{"EqualBackoffs", File("podInitialBackoffSeconds: 10\n"), ""},
        ValidationCase{"BackoffsReversed", File("podInitialBackoffSeconds: 11\n"),
                       "podMaxBackoffSeconds: Invalid value: 10: must be greater than or equal to "
                       "PodInitialBackoffSeconds"},
        ValidationCase{"ProfileTwice", File("profiles: [{schedulerName: a}, {schedulerName: a}]\n"),
                       "profiles[1].schedulerName: Duplicate value: {}"},
        ValidationCase{
            "TwoUnnamedProfiles", File("profiles: [{}, {}]\n"),
            "[profiles[0].schedulerName: Required value, profiles[1].schedulerName: Required value, "
            "profiles[1].schedulerName: Duplicate value: {}]"},
        ValidationCase{
            "OldLock", File("leaderElection: {resourceLock: configmaps}\n"),
            "leaderElection.resourceLock: Invalid value: \"configmaps\": resourceLock value must be "
            "\"leases\""},
        ValidationCase{"OldLockUnused",
                       File("leaderElection: {leaderElect: false, resourceLock: configmaps}\n"), ""},
        ValidationCase{
            "ShortLease", File("leaderElection: {leaseDuration: 8s, renewDeadline: 10s}\n"),
            "leaderElection.leaseDuration: Invalid value: \"10s\": must be greater than `RenewDeadline`"},
        ValidationCase{"NegativeBurst", File("clientConnection: {burst: -1}\n"),
                       "clientConnection.burst: Invalid value: -1: must be non-negative"},
        ValidationCase{
            "RemovedPlugin", InProfile("plugins: {filter: {enabled: [{name: EBSLimits}]}}"),
            "profiles[0].plugins.filter.enabled[0]: Invalid value: \"EBSLimits\": was invalid in version "
            "\"v1\" (KubeSchedulerConfiguration is version \"kubescheduler.config.k8s.io/v1\")"},
        ValidationCase{
            "TwoBinders", File("extenders: [{bindVerb: a}, {bindVerb: b}]\n"),
            "extenders: Invalid value: \"found 2 extenders implementing bind\": only one extender can "
            "implement bind"},
        ValidationCase{
            "ManagedResources",
            File("extenders: [{prioritizeVerb: p, managedResources: [{name: cpu}, {name: x.io/a}, {name: "
                 "x.io/a}]}]\n"),
            "[extenders[0].weight: Invalid value: 0: must have a positive weight applied to it, "
            "extenders[0].managedResources[0].name: Invalid value: \"cpu\": is an invalid extended "
            "resource name, extenders[0].managedResources[2].name: Invalid value: \"x.io/a\": duplicate "
            "extender managed resource name]"},
        ValidationCase{
            "ManagedByTwoExtenders",
            File("extenders: [{managedResources: [{name: x.io/a}]}, {managedResources: [{name: x.io/a}]}]\n"),
            "extenders[1].managedResources[0].name: Invalid value: \"x.io/a\": duplicate extender managed "
            "resource name"},
        ValidationCase{"TwoQueueSorts",
                       InProfile("plugins: {queueSort: {enabled: [{name: PrioritySort}, {name: Other}]}}"),
                       "profiles[0].plugins.queueSort.Enabled: Invalid value: 2: only one queue sort plugin "
                       "can be enabled"},
        ValidationCase{
            "QueueSortsDiffer",
            File("profiles:\n- schedulerName: a\n- schedulerName: b\n  plugins: {queueSort: {enabled: "
                 "[{name: PrioritySort}]}}\n"),
            "profiles[1].plugins.queueSort: Invalid value: "
            "{\"Enabled\":[{\"Name\":\"PrioritySort\",\"Weight\":0}],\"Disabled\":null}: must be the same "
            "for all profiles"}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(ValidationProblems, AreAllThereWithTheirPlaces) {
  const Configuration configuration = MustLoad(File("parallelism: 0\npodInitialBackoffSeconds: 0\n"));
  const Problems problems = Validate(configuration, UpstreamFeatures());
  ASSERT_EQ(problems.size(), 2u);
  EXPECT_EQ(problems[0].path, "parallelism");
  EXPECT_EQ(problems[1].path, "podInitialBackoffSeconds");
}

}  // namespace
}  // namespace berth::config
