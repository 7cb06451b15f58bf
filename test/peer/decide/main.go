// Command decide asks kube-scheduler's own code for decisions, as a library: its cache, its snapshot, its default
// plugins, from PreFilter to the chosen node. No API server, no queue, no binding. It is the counterpart of berth's
// decide benchmark (test/framework/decide_bench.cpp) and makes the same nodes and pods.
//
//	decide [-seconds N] [-pods N] KIND NODES PERCENTAGE
//
// PERCENTAGE is percentageOfNodesToScore; 0 is the default, by which a share of the nodes is looked at.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/latest"
	"k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/profile"
)

const (
	templateCount  = 20
	runningPodsMax = 10_000
)

func main() {
	seconds := flag.Float64("seconds", 5, "measure for about this long")
	pods := flag.Int("pods", 400, "measure at most so many decisions")
	flag.Parse()
	if flag.NArg() != 3 {
		flag.Usage()
		os.Exit(2)
	}
	nodes, err := strconv.Atoi(flag.Arg(1))
	must(err)
	percentage, err := strconv.Atoi(flag.Arg(2))
	must(err)
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)

	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	bed := newBed(ctx, flag.Arg(0), nodes, int32(percentage))
	for range 20 {
		bed.decide()
	}
	runtime.GC()
	var cpu time.Duration
	decided := 0
	for begin := time.Now(); decided < *pods && time.Since(begin).Seconds() < *seconds; decided++ {
		cpu += bed.decide()
	}
	fmt.Printf("kind=%s nodes=%d percentage=%d decisions=%d cpu_us=%.1f evaluated=%.0f\n", flag.Arg(0), nodes,
		percentage, decided, float64(cpu.Nanoseconds())/1000/float64(decided),
		float64(bed.evaluated)/float64(decided+20))
}

// bed is a scheduler whose cache is filled by hand.
type bed struct {
	ctx       context.Context
	kind      string
	sched     *scheduler.Scheduler
	snapshot  *cache.Snapshot
	framework framework.Framework
	next      int
	evaluated int
}

func newBed(ctx context.Context, kind string, nodes int, percentage int32) *bed {
	client := fake.NewClientset()
	config, err := latest.Default()
	must(err)
	recorders := func(string) events.EventRecorderLogger { return nil }
	snapshot := cache.NewEmptySnapshot()
	sched, err := scheduler.New(ctx, client, informers.NewSharedInformerFactory(client, 0), nil,
		profile.RecorderFactory(recorders),
		scheduler.WithNodeInfoSnapshot(snapshot),
		scheduler.WithProfiles(config.Profiles...),
		scheduler.WithParallelism(config.Parallelism),
		scheduler.WithPercentageOfNodesToScore(&percentage))
	must(err)
	b := &bed{ctx: ctx, kind: kind, sched: sched, snapshot: snapshot,
		framework: sched.Profiles[corev1.DefaultSchedulerName]}
	logger := klog.FromContext(ctx)
	for i := range nodes {
		sched.Cache.AddNode(logger, newNode(i))
	}
	for i := range min(nodes, runningPodsMax) {
		pod := plainPod(fmt.Sprintf("running-%d", i))
		pod.Spec.NodeName = nodeName(i)
		must(sched.Cache.AddPod(logger, pod))
	}
	return b
}

// decide has one pod decided and carries that out. The time is the processor time of all threads: the scheduler
// looks at nodes in parallel, and the collector clears up behind it.
func (b *bed) decide() time.Duration {
	pod := podOfKind(b.kind, fmt.Sprintf("pod-%d", b.next), b.next)
	b.next++
	logger := klog.FromContext(b.ctx)
	info, err := framework.NewPodInfo(pod)
	must(err)
	queued := &framework.QueuedPodInfo{PodInfo: info}
	must(b.sched.Cache.UpdateSnapshot(logger, b.snapshot))
	before := processorTime()
	result, err := b.sched.SchedulePod(b.ctx, b.framework, framework.NewCycleState(), queued)
	spent := processorTime() - before
	must(err)
	b.evaluated += result.EvaluatedNodes
	assumed := pod.DeepCopy()
	assumed.Spec.NodeName = result.SuggestedHost
	must(b.sched.Cache.AssumePod(logger, assumed))
	return spent
}

func nodeName(i int) string { return fmt.Sprintf("node-%d", i) }

func newNode(i int) *corev1.Node {
	capacity := corev1.ResourceList{
		corev1.ResourceCPU:    resource.MustParse("4"),
		corev1.ResourceMemory: resource.MustParse("32Gi"),
		corev1.ResourcePods:   resource.MustParse("110"),
	}
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: nodeName(i), Labels: map[string]string{
			corev1.LabelHostname:     nodeName(i),
			corev1.LabelTopologyZone: fmt.Sprintf("zone-%d", i%3),
		}},
		Status: corev1.NodeStatus{Capacity: capacity, Allocatable: capacity},
	}
}

func plainPod(name string) *corev1.Pod {
	priority, policy, wait := int32(0), corev1.PreemptLowerPriority, int64(300)
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "load", UID: types.UID("uid-" + name),
			Labels: map[string]string{"app": "load"}},
		Spec: corev1.PodSpec{
			SchedulerName:    corev1.DefaultSchedulerName,
			Priority:         &priority,
			PreemptionPolicy: &policy,
			Containers: []corev1.Container{{Name: "pause", Image: "pause:3.10",
				Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
					corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: resource.MustParse("500Mi")}}}},
		},
	}
	for _, key := range []string{corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable} {
		pod.Spec.Tolerations = append(pod.Spec.Tolerations, corev1.Toleration{Key: key,
			Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: &wait})
	}
	return pod
}

func podOfKind(kind, name string, number int) *corev1.Pod {
	pod := plainPod(name)
	term := func(key, label, value string) corev1.PodAffinityTerm {
		return corev1.PodAffinityTerm{TopologyKey: key,
			LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{label: value}}}
	}
	byZone := term(corev1.LabelTopologyZone, "app", "load")
	spread := func(key string, action corev1.UnsatisfiableConstraintAction) {
		pod.Spec.TopologySpreadConstraints = append(pod.Spec.TopologySpreadConstraints,
			corev1.TopologySpreadConstraint{MaxSkew: 1, TopologyKey: key, WhenUnsatisfiable: action,
				LabelSelector: byZone.LabelSelector})
	}
	switch kind {
	case "plain":
	case "anti":
		pod.Labels["group"] = "one"
		pod.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{
				term(corev1.LabelHostname, "group", "one")}}}
	case "affinity":
		pod.Spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{byZone}}}
	case "preferred":
		pod.Spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{
			PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{
				{Weight: 10, PodAffinityTerm: byZone}}}}
	case "hard-zone":
		spread(corev1.LabelTopologyZone, corev1.DoNotSchedule)
	case "hard-host":
		spread(corev1.LabelHostname, corev1.DoNotSchedule)
	case "soft-zone":
		spread(corev1.LabelTopologyZone, corev1.ScheduleAnyway)
	case "soft-host":
		spread(corev1.LabelHostname, corev1.ScheduleAnyway)
	case "soft-both":
		spread(corev1.LabelTopologyZone, corev1.ScheduleAnyway)
		spread(corev1.LabelHostname, corev1.ScheduleAnyway)
	case "templates":
		pod.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] =
			resource.MustParse(fmt.Sprintf("%dm", 100+number%templateCount))
	default:
		panic("unknown kind " + kind)
	}
	return pod
}

func processorTime() time.Duration {
	var usage syscall.Rusage
	must(syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "decide:", err)
		os.Exit(1)
	}
}
