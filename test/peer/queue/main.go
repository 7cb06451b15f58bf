// Command queue measures kube-scheduler's scheduling queue by itself, used as a library, with the pods, plugins and
// events of berth's queue benchmark. It prints one line for each operation: its name and microseconds, and at the end
// the bytes that a waiting pod takes beside the pod itself.
package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"syscall"
	"time"
	_ "unsafe" // for linkname

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	schedqueue "k8s.io/kubernetes/pkg/scheduler/backend/queue"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/queuesort"
	"k8s.io/kubernetes/pkg/scheduler/metrics"
	testingclock "k8s.io/utils/clock/testing"
)

// flushBackoff is what the queue does once a second.
//
//go:linkname flushBackoff k8s.io/kubernetes/pkg/scheduler/backend/queue.(*PriorityQueue).flushBackoffQCompleted
func flushBackoff(q *schedqueue.PriorityQueue, logger klog.Logger)

const (
	podCount      = 100_000
	templateCount = 200
	fewTemplates  = 2 // 1 % of the pods
	flushCount    = 10_000
	scheduler     = "default-scheduler"
)

var (
	nodeUpdate  = fwk.ClusterEvent{Resource: fwk.Node, ActionType: fwk.UpdateNodeAllocatable}
	nodeLabel   = fwk.ClusterEvent{Resource: fwk.Node, ActionType: fwk.UpdateNodeLabel}
	podDelete   = fwk.ClusterEvent{Resource: fwk.AssignedPod, ActionType: fwk.Delete}
	claimUpdate = fwk.ClusterEvent{Resource: fwk.ResourceClaim, ActionType: fwk.Update}
	classAdd    = fwk.ClusterEvent{Resource: fwk.StorageClass, ActionType: fwk.Add}
	volumeAdd   = fwk.ClusterEvent{Resource: fwk.PersistentVolume, ActionType: fwk.Add}
)

// hints are those of three plugins: fit compares requests with what a node has, affinity wakes whom it is asked about,
// claims names two pods before any is asked.
func hints() schedqueue.QueueingHintMapPerProfile {
	fits := func(_ klog.Logger, pod *v1.Pod, _, newObj interface{}) (fwk.QueueingHint, error) {
		room := newObj.(*v1.Node).Status.Allocatable.Cpu()
		if pod.Spec.Containers[0].Resources.Requests.Cpu().Cmp(*room) <= 0 {
			return fwk.Queue, nil
		}
		return fwk.QueueSkip, nil
	}
	skip := func(klog.Logger, *v1.Pod, interface{}, interface{}) (fwk.QueueingHint, error) {
		return fwk.QueueSkip, nil
	}
	wake := func(klog.Logger, *v1.Pod, interface{}, interface{}) (fwk.QueueingHint, error) {
		return fwk.Queue, nil
	}
	two := func(klog.Logger, interface{}, interface{}) (fwk.PreQueueingHintResult, error) {
		return fwk.PreQueueingHintResult{Pods: []types.NamespacedName{
			{Namespace: "default", Name: "pod-17"}, {Namespace: "default", Name: "pod-4711"},
		}}, nil
	}
	return schedqueue.QueueingHintMapPerProfile{scheduler: {
		nodeUpdate:  {{PluginName: "fit", QueueingHintFn: fits}},
		podDelete:   {{PluginName: "fit", QueueingHintFn: skip}},
		classAdd:    {{PluginName: "fit", QueueingHintFn: skip}},
		nodeLabel:   {{PluginName: "affinity", QueueingHintFn: wake}},
		claimUpdate: {{PluginName: "claims", QueueingHintFn: skip, PreQueueingHintFn: two}},
		volumeAdd:   {{PluginName: "volumes", QueueingHintFn: wake}},
	}}
}

func makePod(i int) *v1.Pod {
	template := i % templateCount
	priority := int32(template)
	name := "pod-" + strconv.Itoa(i)
	return &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID("uid-" + name)},
		Spec: v1.PodSpec{
			SchedulerName: scheduler,
			Priority:      &priority,
			Containers: []v1.Container{{
				Name: "main",
				Resources: v1.ResourceRequirements{Requests: v1.ResourceList{
					v1.ResourceCPU: *resource.NewMilliQuantity(int64(1000+template), resource.DecimalSI),
				}},
			}},
		},
	}
}

type bench struct {
	ctx    context.Context
	logger klog.Logger
	clock  *testingclock.FakeClock
	q      *schedqueue.PriorityQueue
	pods   []*v1.Pod
	flying []*framework.QueuedPodInfo
}

func newBench(count int) *bench {
	logger := klog.Background()
	b := &bench{
		ctx:    klog.NewContext(context.Background(), logger),
		logger: logger,
		clock:  testingclock.NewFakeClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)),
	}
	for i := range count {
		b.pods = append(b.pods, makePod(i))
	}
	stop := make(chan struct{})
	b.q = schedqueue.NewPriorityQueue((&queuesort.PrioritySort{}).Less,
		informers.NewSharedInformerFactory(fake.NewClientset(), 0),
		schedqueue.WithClock(b.clock),
		schedqueue.WithMetricsRecorder(metrics.NewMetricsAsyncRecorder(1000, time.Second, stop)),
		schedqueue.WithQueueingHintMapPerProfile(hints()))
	return b
}

func (b *bench) addAll() {
	for _, pod := range b.pods {
		b.q.Add(b.ctx, pod)
	}
}

func (b *bench) pop(count int) {
	for range count {
		entity, err := b.q.Pop(b.logger)
		if err != nil {
			panic(err)
		}
		entity.ForEachPodInfo(func(info *framework.QueuedPodInfo) bool {
			b.flying = append(b.flying, info)
			return true
		})
	}
}

// reject puts what was popped back, each pod as rejected by the plugin that the function names; none: an error.
func (b *bench) reject(plugin func(*v1.Pod) string) {
	for _, info := range b.flying {
		info.ClearRejectorPlugins()
		info.UnschedulablePlugins = sets.New[string]()
		if name := plugin(info.Pod); name != "" {
			info.UnschedulablePlugins.Insert(name)
		}
		if err := b.q.AddUnschedulablePodIfNotPresent(b.logger, info, b.q.SchedulingCycle()); err != nil {
			panic(err)
		}
	}
	b.flying = b.flying[:0]
}

func (b *bench) park(plugin func(*v1.Pod) string) {
	b.addAll()
	b.pop(len(b.pods))
	b.reject(plugin)
}

func by(name string) func(*v1.Pod) string { return func(*v1.Pod) string { return name } }

// measure prints the mean processor time of rounds, all threads counted, without what happens between them.
func measure(name string, rounds int, run, between func()) {
	var total time.Duration
	for range rounds {
		start := cpuTime()
		run()
		total += cpuTime() - start
		if between != nil {
			between()
		}
	}
	fmt.Printf("%s %.3f\n", name, float64(total.Nanoseconds())/1e3/float64(rounds))
}

// measureMany is for what takes less than the processor's clock can tell.
func measureMany(name string, rounds int, run func()) {
	start := cpuTime()
	for range rounds {
		run()
	}
	fmt.Printf("%s %.3f\n", name, float64((cpuTime()-start).Nanoseconds())/1e3/float64(rounds))
}

func (b *bench) notify(event fwk.ClusterEvent, object interface{}) func() {
	return func() { b.q.MoveAllToActiveOrBackoffQueue(b.logger, event, object, object, nil) }
}

func cpuTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

func main() {
	klog.SetOutput(os.Stderr)
	if err := utilfeature.DefaultMutableFeatureGate.SetFromMap(map[string]bool{"SchedulerPreQueueingHints": true}); err != nil {
		panic(err)
	}
	metrics.Register()
	node := &v1.Node{Status: v1.NodeStatus{Allocatable: v1.ResourceList{v1.ResourceCPU: resource.MustParse("500m")}}}

	waiting := newBench(podCount)
	empty := heap()
	waiting.park(by("fit"))
	bytes := float64(heap()-empty) / podCount
	measure("NodeUpdate", 5, waiting.notify(nodeUpdate, node), nil)
	measure("AssignedPodDelete", 5, waiting.notify(podDelete, makePod(0)), nil)
	measure("EventForEveryPod", 5, waiting.notify(classAdd, node), nil)
	measure("UnrelatedEvent", 5, waiting.notify(volumeAdd, &v1.PersistentVolume{}), nil)

	few := newBench(podCount)
	rejector := func(pod *v1.Pod) string {
		if *pod.Spec.Priority < fewTemplates {
			return "affinity"
		}
		return "fit"
	}
	few.park(rejector)
	concerned := podCount / templateCount * fewTemplates
	measure("NodeUpdateForOnePercent", 5, few.notify(nodeLabel, node), func() {
		few.pop(concerned)
		few.reject(rejector)
	})

	narrowed := newBench(podCount)
	narrowed.park(by("claims"))
	measureMany("NarrowedEvent", 10_000, narrowed.notify(claimUpdate, node))

	flush := newBench(flushCount)
	flush.addAll()
	again := func() {
		flush.pop(flushCount)
		flush.reject(by(""))
		flush.clock.Step(time.Minute)
	}
	again()
	measure("BackoffFlushOf10000", 5, func() { flushBackoff(flush.q, flush.logger) }, again)

	through := newBench(podCount)
	measure("AddAndPop100000", 3, func() {
		through.addAll()
		through.pop(podCount)
	}, func() {
		for _, info := range through.flying {
			through.q.Done(info.Pod.UID)
		}
		through.flying = through.flying[:0]
	})
	fmt.Printf("bytes_per_waiting_pod %.0f\n", bytes)
	runtime.KeepAlive(waiting)
}
