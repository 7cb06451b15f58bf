#include "config/compile.h"

#include "config_bed.h"

namespace berth::config {
namespace {

base::Result<Compiled> WithPlugins(std::string_view plugins) {
  return CompileText(InProfile("plugins:\n  " + std::string(plugins)));
}

std::string PluginsError(std::string_view plugins) {
  return BuildError(InProfile("plugins:\n  " + std::string(plugins)));
}

// As if another plugin had been linked in.
base::Result<Compiled> WithOther(std::string_view plugins, std::initializer_list<Point> points) {
  PluginCatalog catalog = PluginCatalog::InTree();
  PluginCatalog::Points extends;
  for (const Point point : points) extends.set(Index(point));
  catalog.Add("Other", extends);
  return Compile(MustLoad(InProfile("plugins:\n  " + std::string(plugins))), catalog, UpstreamFeatures());
}

constexpr std::string_view kDefaultFilter =
    "NodeName NodeUnschedulable TaintToleration NodeAffinity NodePorts NodeResourcesFit VolumeRestrictions "
    "NodeVolumeLimits VolumeBinding VolumeZone PodTopologySpread InterPodAffinity DynamicResources "
    "NodeDeclaredFeatures";

TEST(Compile, DefaultLists) {  // case 1
  const auto compiled = CompileText(File(""));
  EXPECT_EQ(ListAt(compiled, Point::kPreFilter), kDefaultFilter);
  EXPECT_EQ(ListAt(compiled, Point::kFilter), kDefaultFilter);
  EXPECT_EQ(ListAt(compiled, Point::kPreEnqueue), "SchedulingGates DynamicResources DefaultPreemption");
  EXPECT_EQ(ListAt(compiled, Point::kPostFilter), "DynamicResources DefaultPreemption");
  EXPECT_EQ(ListAt(compiled, Point::kScore),
            "TaintToleration=3 NodeAffinity=2 NodeResourcesFit=1 VolumeBinding=1 PodTopologySpread=2 "
            "InterPodAffinity=2 DynamicResources=2 NodeResourcesBalancedAllocation=1 ImageLocality=1");
  EXPECT_EQ(ListAt(compiled, Point::kReserve), "VolumeBinding DynamicResources");
  EXPECT_EQ(ListAt(compiled, Point::kPlacementScore), "NodeResourcesFit=1");
  EXPECT_EQ(ListAt(compiled, Point::kPermit), "");
}

TEST(Compile, ADefaultThatIsNamedMovesToTheFront) {  // case 24
  EXPECT_TRUE(ListAt(WithPlugins("filter: {enabled: [{name: VolumeZone}]}"), Point::kFilter)
                  .starts_with("VolumeZone NodeName "));
}

TEST(Compile, ANewPluginComesLast) {  // case 24
  EXPECT_EQ(ListAt(WithOther("filter: {enabled: [{name: Other}]}", {Point::kFilter}), Point::kFilter),
            std::string(kDefaultFilter) + " Other");
}

TEST(Compile, WeightsOfDefaultsThatAreNamed) {  // case 25
  const auto score = [](std::string_view plugins) { return ListAt(WithPlugins(plugins), Point::kScore); };
  EXPECT_TRUE(
      score("score: {enabled: [{name: TaintToleration}]}").starts_with("TaintToleration=1 NodeAffinity=2"));
  EXPECT_TRUE(score("multiPoint: {enabled: [{name: TaintToleration}]}")
                  .starts_with("TaintToleration=1 NodeAffinity=2"));
  EXPECT_TRUE(score("score: {enabled: [{name: NodeResourcesFit, weight: 5}]}")
                  .starts_with("NodeResourcesFit=5 TaintToleration=3"));
  const std::string before = ListAt(CompileText(File("")), Point::kPreScore);
  for (const char* plugins :
       {"score: {enabled: [{name: TaintToleration}]}", "multiPoint: {enabled: [{name: TaintToleration}]}",
        "score: {enabled: [{name: NodeResourcesFit, weight: 5}]}"}) {
    EXPECT_EQ(ListAt(WithPlugins(plugins), Point::kPreScore), before) << plugins;
  }
}

TEST(Compile, AllDisabledLeavesWhatIsNamed) {  // case 26
  EXPECT_EQ(
      ListAt(WithPlugins("filter: {disabled: [{name: '*'}], enabled: [{name: NodePorts}, {name: NodeName}]}"),
             Point::kFilter),
      "NodePorts NodeName");
  const auto few = WithPlugins(
      "multiPoint: {disabled: [{name: '*'}], enabled: [{name: PrioritySort}, {name: DefaultBinder}]}");
  EXPECT_EQ(ListAt(few, Point::kFilter), "");
  EXPECT_EQ(ListAt(few, Point::kBind), "DefaultBinder");
}

TEST(Compile, DisabledAtAPointButNamedThere) {  // case 27
  EXPECT_EQ(
      ListAt(WithPlugins("reserve: {disabled: [{name: VolumeBinding}], enabled: [{name: VolumeBinding}]}"),
             Point::kReserve),
      "DynamicResources VolumeBinding");
  EXPECT_EQ(ListAt(WithOther("reserve: {disabled: [{name: VolumeBinding}], enabled: [{name: Other}, {name: "
                             "VolumeBinding}]}",
                             {Point::kReserve}),
                   Point::kReserve),
            "DynamicResources Other VolumeBinding");
}

TEST(Compile, MultiPointWithExceptions) {  // case 30
  const auto compiled = CompileText(InProfile(
      "plugins:\n"
      "  multiPoint:\n"
      "    disabled: [{name: '*'}]\n"
      "    enabled: [{name: SchedulingGates}, {name: DefaultBinder}, {name: PrioritySort}, {name: "
      "DefaultPreemption}, {name: VolumeBinding}, {name: NodeResourcesFit}, {name: NodePorts}, {name: "
      "InterPodAffinity}, {name: TaintToleration}, {name: DynamicResources}]\n"
      "  preFilter: {disabled: [{name: VolumeBinding}, {name: InterPodAffinity}]}\n"
      "  filter: {disabled: [{name: VolumeBinding}, {name: InterPodAffinity}, {name: TaintToleration}]}\n"
      "  score: {disabled: [{name: VolumeBinding}, {name: NodeResourcesFit}]}"));
  EXPECT_EQ(ListAt(compiled, Point::kFilter), "NodeResourcesFit NodePorts DynamicResources");
  EXPECT_EQ(ListAt(compiled, Point::kPreFilter),
            "NodeResourcesFit NodePorts TaintToleration DynamicResources");
  EXPECT_EQ(ListAt(compiled, Point::kScore), "InterPodAffinity=1 TaintToleration=1 DynamicResources=1");
  EXPECT_EQ(ListAt(compiled, Point::kPostFilter), "DefaultPreemption DynamicResources");
}

TEST(Compile, MistakesWithPlugins) {
  EXPECT_EQ(PluginsError("multiPoint: {enabled: [{name: EBSLimits}]}"),  // case 15
            "PreFilterPlugin \"EBSLimits\" does not exist");
  EXPECT_EQ(PluginsError("filter: {enabled: [{name: Mine}]}"), "FilterPlugin \"Mine\" does not exist");
  EXPECT_EQ(PluginsError("multiPoint: {enabled: [{name: ImageLocality}, {name: ImageLocality}]}"),  // case 28
            "plugin \"ImageLocality\" already registered as \"ScorePlugin\"");
  EXPECT_EQ(PluginsError("score: {enabled: [{name: NodeName}]}"),
            "plugin \"NodeName\" does not extend ScorePlugin plugin");
  EXPECT_EQ(
      PluginsError("queueSort: {disabled: [{name: '*'}]}"),  // case 29
      "only one queue sort plugin required for profile with scheduler name \"default-scheduler\", but got 0");
  EXPECT_EQ(PluginsError("bind: {disabled: [{name: '*'}]}"),
            "at least one bind plugin is needed for profile with scheduler name \"default-scheduler\"");
  EXPECT_EQ(PluginsError("score: {enabled: [{name: ImageLocality, weight: -5}]}"),
            "score plugins: total score of Score plugins could overflow");
}

TEST(Compile, ASecondQueueSortIsOneTooMany) {  // case 29
  const auto compiled = WithOther("queueSort: {enabled: [{name: Other}]}", {Point::kQueueSort});
  ASSERT_FALSE(compiled);
  EXPECT_EQ(
      compiled.error().message,
      "initializing profiles: creating profile for scheduler name default-scheduler: only one queue sort "
      "plugin required for profile with scheduler name \"default-scheduler\", but got 2");
}

TEST(Compile, QueueSortsOfProfilesMustAgree) {  // case 29
  PluginCatalog catalog = PluginCatalog::InTree();
  PluginCatalog::Points sorts;
  sorts.set(Index(Point::kQueueSort));
  catalog.Add("OtherSort", sorts);
  const Configuration configuration = MustLoad(
      File("profiles:\n- schedulerName: a\n- schedulerName: b\n  plugins: {multiPoint: {disabled: [{name: "
           "PrioritySort}], enabled: [{name: OtherSort}]}}\n"));
  const auto compiled = Compile(configuration, catalog, UpstreamFeatures());
  ASSERT_FALSE(compiled);
  EXPECT_EQ(compiled.error().message,
            "initializing profiles: different queue sort plugins for profile \"b\": \"OtherSort\", first: "
            "\"PrioritySort\"");
}

TEST(Compile, ArgumentsOfNodeResourcesFitAreCheckedLate) {  // case 19
  EXPECT_EQ(
      BuildError(InProfile("pluginConfig:\n- name: NodeResourcesFit\n  args: {scoringStrategy: {resources: "
                           "[{name: cpu}]}}")),
      "initializing plugin \"NodeResourcesFit\": scoringStrategy.type: Unsupported value: \"\": supported "
      "values: \"LeastAllocated\", \"MostAllocated\", \"RequestedToCapacityRatio\"");
}

TEST(Compile, ExtendersDecideWhatIsIgnored) {  // case 17
  const auto compiled = CompileText(File(
      "extenders: [{urlPrefix: 'http://e', managedResources: [{name: x.io/b, ignoredByScheduler: true}]}]\n"
      "profiles:\n- pluginConfig:\n  - name: NodeResourcesFit\n    args: {ignoredResources: [x.io/a]}\n"));
  ASSERT_TRUE(compiled) << compiled.error().message;
  std::vector<std::string> ignored;
  for (const PluginConfig& config : compiled->configuration.profiles[0].plugin_config) {
    if (const auto* fit = std::get_if<NodeResourcesFitArgs>(&config.typed)) ignored = fit->ignored_resources;
  }
  EXPECT_EQ(ignored, std::vector<std::string>{"x.io/b"});
}

TEST(Compile, CertificatesOfExtenders) {
  EXPECT_EQ(
      BuildError(File("extenders: [{tlsConfig: {insecure: true, caData: YWJj}}]\n")),
      "couldn't build extenders: specifying a root certificates file with the insecure flag is not allowed");
  EXPECT_EQ(BuildError(File("extenders: [{tlsConfig: {caFile: not/there.pem}}]\n")),
            "couldn't build extenders: open not/there.pem: no such file or directory");
  EXPECT_EQ(BuildError(File("extenders: [{tlsConfig: {caData: YWJj}}]\n")),
            "couldn't build extenders: unable to load root certificates: unable to parse bytes as PEM block");
}

}  // namespace
}  // namespace berth::config
