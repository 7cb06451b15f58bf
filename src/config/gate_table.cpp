#include "config/gate_table.h"

#include <absl/strings/str_split.h>
#include <algorithm>

namespace berth::config {
namespace {

struct Group {
  Stage stage;
  bool enabled;
  bool locked;
  std::string_view names;
};

// berth's defaults differ from kube-scheduler's in SchedulerPreQueueingHints (there ALPHA, off),
// SchedulerAsyncAPICalls (there off) and SchedulerPreEnqueuePodStatus (not known there).
constexpr Group kGroups[] = {
    {Stage::kBeta, true, false,
     "APIResponseCompression APIServerIdentity AllowParsingUserUIDFromCertAuth "
     "AllowUnsafeMalformedObjectDeletion AtomicFIFO AuthorizePodWebsocketUpgradeCreatePermission "
     "CPUManagerPolicyBetaOptions CRDObservedGenerationTracking "
     "ClearingNominatedNodeNameAfterBinding ClientsAllowCARotation ClientsAllowTLSCacheGC "
     "ComponentFlagz ComponentStatusz ConcurrentWatchObjectDecode ConstrainedImpersonation "
     "ContainerCheckpoint ContainerRestartRules ContextualLogging DRAConsumableCapacity "
     "DRADeviceBindingConditions DRAPartitionableDevices "
     "DRAResourceClaimGranularStatusAuthorization DRASchedulerFilterTimeout "
     "DeclarativeValidationBeta DeploymentReplicaSetTerminatingReplicas DetectCacheInconsistency "
     "EnvFiles EtcdRangeStream ExcludeAdmissionWebhookVirtualResources ExtendWebSocketsToKubelet "
     "GracefulNodeShutdown GracefulNodeShutdownBasedOnPodPriority HPAGeneration "
     "HPAOptimizedSelectorStore HPAScaleToZero HugepageAwareEviction InOrderInformersBatchProcess "
     "InPlacePodLevelResourcesVerticalScaling KubeletCrashLoopBackOffMax "
     "KubeletEnsureSecretPulledImages KubeletInUserNamespace KubeletSeparateDiskGC "
     "KubeletServiceAccountTokenForCredentialProviders ListFromCacheSnapshot LoggingBetaOptions "
     "ManifestBasedAdmissionControlConfig MatchLabelKeysInPodTopologySpread "
     "MatchLabelKeysInPodTopologySpreadSelectorMerge MaxUnavailableStatefulSet MemoryQoS "
     "MutablePodResourcesForSuspendedJobs MutableSchedulingDirectivesForSuspendedJobs "
     "NFTablesNetlink NativeHistograms NodeControllerLeaseCircuitBreaker "
     "NominatedNodeNameForExpectation OpenAPIEnums OpportunisticBatching "
     "PersistentVolumeClaimUnusedSinceTime PodDeletionCost PodLevelResources "
     "PodLevelResourcesFixDefaulting PodLevelResourcesFixKubeletQOSClass "
     "PodTopologyLabelsAdmission PodsAPI PortForwardWebsockets ReloadKubeletClientCAFile "
     "ReloadKubeletServerCertificateFile RemoteRequestHeaderUID ResourceHealthStatus "
     "ResourceHealthStatusMessage RestartAllContainersOnContainerExits "
     "RotateKubeletServerCertificate SchedulerAsyncAPICalls SchedulerAsyncPreemption "
     "SchedulerPopFromBackoffQ SchedulerPreEnqueuePodStatus SchedulerPreQueueingHints "
     "ServiceAccountNodeAudienceRestriction SizeBasedListCostEstimate "
     "StaleControllerConsistencyDaemonSet StaleControllerConsistencyHPA "
     "StaleControllerConsistencyJob StaleControllerConsistencyReplicaSet "
     "StaleControllerConsistencyStatefulSet StatefulSetSemanticRevisionComparison "
     "StorageCapacityScoring StorageVersionHash StrictIPCIDRValidation "
     "StructuredAuthenticationConfigurationEgressSelector "
     "StructuredAuthenticationConfigurationJWKSMetrics TokenRequestServiceAccountUIDValidation "
     "TopologyManagerPolicyBetaOptions TranslateStreamCloseWebsocketRequests "
     "UnauthenticatedHTTP2DOSMitigation UnknownVersionInteroperabilityProxy "
     "UnlockWhileProcessingFIFO VolumeLimitScaling WatchList WatchListClient WatchListCompression "
     "WebhookRoundTripLoadBalancing WindowsGracefulNodeShutdown"},
    {Stage::kBeta, false, false,
     "CoordinatedLeaderElection DRAFractionalCapacityRange DRAWorkloadResourceClaims "
     "GenericWorkload LocalStorageCapacityIsolationFSQuotaMonitoring PodAndContainerStatsFromCRI "
     "PodLevelResourceManagers"},
    {Stage::kAlpha, false, false,
     "APIServerWebhookAuthenticationToken APIServingWithRoutine AtomicWriteVolumeUserFields "
     "CBORServingAndStorage CPUManagerPolicyAlphaOptions CRIListStreaming CSIVolumeHealth "
     "ClientsAllowCBOR ClientsPreferCBOR CloudControllerManagerWatchBasedRoutesReconciliation "
     "CloudControllerManagerWebhook CompositePodGroup ConsistentListFromCacheSkipTimeoutFallback "
     "ContainerStopSignals CrossNamespaceVolumeDataSource DRADerivedAttributes "
     "DRADeviceCompatibilityGroups DRAListTypeAttributes DRANodeAllocatableResources "
     "DRAOptionalNodeOperations DRAPartitionableDevicesType DRAResourcePoolStatus "
     "DefaultPodSysctls EmptyDirVolumeMode EventedPLEG EvictionRequestAPI GRPCContainerProbeTLS "
     "H2CContainerProbe ImageVolumeWithDigest InPlacePodVerticalScalingExclusiveCPUs "
     "InPlacePodVerticalScalingExclusiveMemory InPlacePodVerticalScalingMemoryBackedVolumes "
     "InPlacePodVerticalScalingSchedulerPreemption InterPodAffinityHostnameFastPath "
     "KubeProxyNFTablesLocalhostNodePorts KubeletAllocatedPodsEndpoint LoggingAlphaOptions "
     "MutablePVNodeAffinity NodeLifecycleConditions PodGroupPreemptionPolicy "
     "PodLogsQuerySplitStreams QOSReserved ReduceDefaultCrashLoopBackOffDecay "
     "RuntimeClassInImageCriApi ShardedListAndWatch StatefulSetRecreateStrategy StorageVersionAPI "
     "TaintTolerationComparisonOperators TopologyAwareWorkloadScheduling "
     "TopologyManagerPolicyAlphaOptions UserNamespacesHostNetworkSupport VolumeBindMountOptions "
     "WindowsCPUAndMemoryAffinity WorkloadWithJob"},
    {Stage::kStable, true, true,
     "CPUManagerPolicyOptions CRDValidationRatcheting CSIServiceAccountTokenSecrets "
     "CustomResourceFieldSelectors DRAAdminAccess DRAExtendedResource DRAPrioritizedList "
     "DRAResourceClaimDeviceStatus DeclarativeValidation DisableAllocatorDualWrite "
     "DynamicResourceAllocation ExecProbeTimeout ExternalServiceAccountTokenSigner "
     "HPAConfigurableTolerance HostnameOverride ImageMaximumGCAge ImageVolume InOrderInformers "
     "InPlacePodVerticalScaling InPlacePodVerticalScalingInitContainers JobManagedBy "
     "KubeletCgroupDriverFromCRI KubeletFineGrainedAuthz KubeletPSI "
     "KubeletPodResourcesDynamicResources KubeletPodResourcesGet KubeletTracing "
     "MatchLabelKeysInPodAffinity MultiCIDRServiceAllocator MutableCSINodeAllocatableCount "
     "NFTablesProxyMode NodeDeclaredFeatures NodeInclusionPolicyInPodTopologySpread NodeLogQuery "
     "NodeSwap PLEGOnDemandRelist PodObservedGenerationTracking PodReadyToStartContainersCondition "
     "PodSchedulingReadiness PreferSameTrafficDistribution ProcMountType "
     "RecoverVolumeExpansionFailure RecursiveReadOnlyMounts RelaxedEnvironmentVariableValidation "
     "RelaxedServiceNameValidation SELinuxChangePolicy SELinuxMountReadWriteOncePod "
     "SeparateTaintEvictionController ServiceAccountTokenJTI ServiceAccountTokenNodeBinding "
     "ServiceAccountTokenNodeBindingValidation ServiceAccountTokenPodNodeInfo "
     "SupplementalGroupsPolicy SystemdWatchdog TopologyManagerPolicyOptions UserNamespacesSupport "
     "VolumeAttributesClass WatchCacheInitializationPostStartHook WinDSR WinOverlay"},
    {Stage::kStable, true, false,
     "AllowServiceExternalIPs ClusterTrustBundle ClusterTrustBundleProjection "
     "CustomCPUCFSQuotaPeriod DRADeviceTaintRules DRADeviceTaints InformerResourceVersion "
     "MutatingAdmissionPolicy PodCertificateRequest SELinuxMount StorageVersionMigrator"},
    {Stage::kDeprecated, false, false,
     "AllowDNSOnlyNodeCSR AllowInsecureKubeletCertificateSigningRequests "
     "ChangeContainerStatusOnKubeletRestart KMSv1 KubeletRegistrationGetOnExistsOnly "
     "WindowsHostNetwork"},
    {Stage::kDeprecated, true, false,
     "KubeProxyIPVS KubeletPodResourcesListUseActivePods ServiceCIDRStatusFieldWiping "
     "StorageNamespaceIndex"},
    {Stage::kDeprecated, true, true,
     "AggregatedDiscoveryRemoveBetaType DisableCPUQuotaWithExclusiveCPUs "
     "DisableNodeKubeProxyVersion"},
    {Stage::kDeprecated, false, true,
     "AllowOverwriteTerminationGracePeriodSeconds DeclarativeValidationTakeover "
     "GitRepoVolumeDriver SeparateCacheWatchRPC"},
};

struct Need {
  std::string_view gate;
  std::string_view needs;
};

constexpr Need kNeeds[] = {
    {"ClusterTrustBundleProjection", "ClusterTrustBundle"},
    {"CompositePodGroup", "GenericWorkload TopologyAwareWorkloadScheduling"},
    {"DRAAdminAccess", "DynamicResourceAllocation"},
    {"DRAConsumableCapacity", "DynamicResourceAllocation"},
    {"DRADerivedAttributes", "DynamicResourceAllocation"},
    {"DRADeviceBindingConditions", "DynamicResourceAllocation DRAResourceClaimDeviceStatus"},
    {"DRADeviceCompatibilityGroups", "DynamicResourceAllocation DRAPartitionableDevices"},
    {"DRADeviceTaintRules", "DRADeviceTaints"},
    {"DRADeviceTaints", "DynamicResourceAllocation"},
    {"DRAExtendedResource", "DynamicResourceAllocation"},
    {"DRAFractionalCapacityRange", "DRAConsumableCapacity"},
    {"DRAListTypeAttributes", "DynamicResourceAllocation"},
    {"DRANodeAllocatableResources", "DynamicResourceAllocation"},
    {"DRAOptionalNodeOperations", "DynamicResourceAllocation NodeDeclaredFeatures"},
    {"DRAPartitionableDevices", "DynamicResourceAllocation"},
    {"DRAPartitionableDevicesType", "DRAPartitionableDevices DRAResourcePoolStatus"},
    {"DRAPrioritizedList", "DynamicResourceAllocation"},
    {"DRASchedulerFilterTimeout", "DynamicResourceAllocation"},
    {"DRAWorkloadResourceClaims", "DynamicResourceAllocation GenericWorkload"},
    {"GracefulNodeShutdownBasedOnPodPriority", "GracefulNodeShutdown"},
    {"InPlacePodLevelResourcesVerticalScaling",
     "InPlacePodVerticalScaling PodLevelResources NodeDeclaredFeatures"},
    {"InPlacePodVerticalScalingSchedulerPreemption", "InPlacePodVerticalScaling"},
    {"MatchLabelKeysInPodTopologySpreadSelectorMerge", "MatchLabelKeysInPodTopologySpread"},
    {"NodeControllerLeaseCircuitBreaker", "AtomicFIFO"},
    {"PodGroupPreemptionPolicy", "GenericWorkload"},
    {"PodLevelResourceManagers", "PodLevelResources"},
    {"PodLevelResourcesFixDefaulting", "PodLevelResources"},
    {"PodLevelResourcesFixKubeletQOSClass", "PodLevelResources"},
    {"ResourceHealthStatusMessage", "ResourceHealthStatus"},
    {"RestartAllContainersOnContainerExits", "ContainerRestartRules"},
    {"SchedulerPreEnqueuePodStatus", "SchedulerAsyncAPICalls"},
    {"StaleControllerConsistencyDaemonSet", "AtomicFIFO"},
    {"StaleControllerConsistencyHPA", "AtomicFIFO"},
    {"StaleControllerConsistencyJob", "AtomicFIFO"},
    {"StaleControllerConsistencyReplicaSet", "AtomicFIFO"},
    {"StaleControllerConsistencyStatefulSet", "AtomicFIFO"},
    {"StorageVersionAPI", "APIServerIdentity"},
    {"TopologyAwareWorkloadScheduling", "GenericWorkload"},
    {"UnknownVersionInteroperabilityProxy", "APIServerIdentity"},
    {"WindowsGracefulNodeShutdown", "GracefulNodeShutdown"},
    {"WorkloadWithJob", "GenericWorkload"},
};

// Gates that an older version, if it is emulated, does not know or does not turn on by itself.
constexpr std::string_view kIntroducedIn37[] = {"SchedulerPreEnqueuePodStatus", "SchedulerPreQueueingHints"};

std::vector<std::string_view> Words(std::string_view text) {
  std::vector<std::string_view> words;
  for (const auto word : absl::StrSplit(absl::string_view(text.data(), text.size()), ' ')) {
    words.emplace_back(word.data(), word.size());
  }
  return words;
}

std::vector<Gate> MakeGates() {
  std::vector<Gate> gates;
  for (const Group& group : kGroups) {
    for (const std::string_view name : Words(group.names)) {
      Gate gate;
      gate.name = name;
      gate.stage = group.stage;
      gate.enabled = group.enabled;
      gate.locked = group.locked;
      if (std::ranges::find(kIntroducedIn37, name) != std::end(kIntroducedIn37)) gate.introduced_minor = 37;
      gates.push_back(std::move(gate));
    }
  }
  std::ranges::sort(gates, {}, &Gate::name);
  for (const Need& need : kNeeds) {
    std::ranges::lower_bound(gates, need.gate, {}, &Gate::name)->needs = Words(need.needs);
  }
  return gates;
}

}  // namespace

std::span<const Gate> KnownGates() {
  static const std::vector<Gate> gates = MakeGates();
  return gates;
}

const Gate* FindGate(std::string_view name) {
  const std::span<const Gate> gates = KnownGates();
  const auto found = std::ranges::lower_bound(gates, name, {}, &Gate::name);
  return found != gates.end() && found->name == name ? &*found : nullptr;
}

}  // namespace berth::config
