// Measures what kube-scheduler's own code takes to find victims for one pod: the dry run of DefaultPreemption over all
// nodes and the choice among the candidates, with the filters that have a say about plain pods. The cluster is that of
// PreemptOne in test/core/core_bench.cpp. Prints one line of NAME=VALUE.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"runtime"
	"syscall"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/testing/defaults"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	internalqueue "k8s.io/kubernetes/pkg/scheduler/backend/queue"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/parallelize"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/kubernetes/pkg/scheduler/metrics"
)

// What a plain pod meets; the others skip it before any node is looked at.
var taken = []string{
	"NodeUnschedulable", "NodeName", "TaintToleration", "NodeAffinity", "NodePorts", "NodeResourcesFit", "PodTopologySpread",
	"InterPodAffinity", "PrioritySort", "DefaultBinder",
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func list(cpu, memory string) v1.ResourceList {
	return v1.ResourceList{v1.ResourceCPU: resource.MustParse(cpu), v1.ResourceMemory: resource.MustParse(memory)}
}

func makePod(name string, priority int32, cpu, node string) *v1.Pod {
	return &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default", UID: types.UID(name), Labels: map[string]string{"app": "web"}},
		Spec: v1.PodSpec{
			NodeName: node, Priority: &priority,
			Containers: []v1.Container{{Name: "main", Resources: v1.ResourceRequirements{Requests: list(cpu, "64Mi")}}},
		},
	}
}

func cluster(nodeCount, podsPerNode int) ([]*v1.Node, []*v1.Pod) {
	var nodes []*v1.Node
	var pods []*v1.Pod
	for i := range nodeCount {
		name := fmt.Sprintf("node-%d", i)
		room := list(fmt.Sprint(podsPerNode), "256Gi")
		room[v1.ResourcePods] = resource.MustParse("110")
		nodes = append(nodes, &v1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{v1.LabelHostname: name, v1.LabelTopologyZone: fmt.Sprintf("zone-%d", i%3)}},
			Status:     v1.NodeStatus{Capacity: room, Allocatable: room},
		})
		for j := range podsPerNode {
			pods = append(pods, makePod(fmt.Sprintf("low-%d-%d", i, j), 1, "1", name))
		}
	}
	return nodes, pods
}

func profile() *config.KubeSchedulerProfile {
	var set config.Plugins
	for _, name := range taken {
		set.MultiPoint.Enabled = append(set.MultiPoint.Enabled, config.Plugin{Name: name})
	}
	return &config.KubeSchedulerProfile{SchedulerName: "default-scheduler", Plugins: &set, PluginConfig: defaults.PluginConfigsV1}
}

func cpuSeconds() float64 {
	var usage syscall.Rusage
	must(syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return float64(usage.Utime.Nano()+usage.Stime.Nano()) / 1e9
}

func main() {
	nodeCount := flag.Int("nodes", 5000, "nodes")
	victims := flag.Int("victims", 10, "pods of lower priority on each, all of which have to go")
	rounds := flag.Int("rounds", 20, "how often it is measured")
	flag.Parse()
	klog.SetLogger(klog.Background().V(0))
	metrics.Register()

	ctx := context.Background()
	nodes, pods := cluster(*nodeCount, *victims)
	preemptor := makePod("high", 100, fmt.Sprint(*victims), "")
	snapshot := internalcache.NewSnapshot(pods, nodes)
	factory := informers.NewSharedInformerFactory(fake.NewClientset(), 0)
	handle, err := frameworkruntime.NewFramework(ctx, plugins.NewInTreeRegistry(), profile(),
		frameworkruntime.WithPodNominator(internalqueue.NewSchedulingQueue(nil, factory)),
		frameworkruntime.WithSnapshotSharedLister(snapshot),
		frameworkruntime.WithMutableSnapshotLister(snapshot),
		frameworkruntime.WithInformerFactory(factory),
		frameworkruntime.WithParallelism(parallelize.DefaultParallelism))
	must(err)
	var args apiruntime.Object
	for _, one := range defaults.PluginConfigsV1 {
		if one.Name == defaultpreemption.Name {
			args = one.Args
		}
	}
	preemption, err := defaultpreemption.New(ctx, args, handle, feature.Features{EnableAsyncPreemption: true})
	must(err)
	infos, err := snapshot.NodeInfos().List()
	must(err)

	run := func() int {
		state := framework.NewCycleState()
		if _, status, _ := handle.RunPreFilterPlugins(ctx, state, preemptor); !status.IsSuccess() {
			must(status.AsError())
		}
		for _, info := range infos[:1] {
			if status := handle.RunFilterPluginsWithNominatedPods(ctx, state, preemptor, info); status.Code() != fwk.Unschedulable {
				must(fmt.Errorf("the pod fits: %v", status))
			}
		}
		offset, wanted := preemption.GetOffsetAndNumCandidates(int32(len(infos)))
		candidates, _, err := preemption.Evaluator.DryRunPreemption(ctx, state, preemptor, infos, nil, offset, wanted)
		must(err)
		best := preemption.Evaluator.SelectCandidate(ctx, candidates)
		if len(best.Victims().Pods) != *victims {
			must(fmt.Errorf("%d victims", len(best.Victims().Pods)))
		}
		return len(candidates)
	}
	candidates := run()
	runtime.GC()
	start, cpu := time.Now(), cpuSeconds()
	for range *rounds {
		run()
	}
	fmt.Printf("candidates=%d wall_us=%.1f cpu_us=%.1f\n", candidates, float64(time.Since(start).Microseconds())/float64(*rounds),
		(cpuSeconds()-cpu)*1e6/float64(*rounds))
}
