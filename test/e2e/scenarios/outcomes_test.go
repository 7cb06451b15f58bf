package scenarios

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"berth/e2e/harness"
)

// Several stories are told at a time, each on a stage of its own: most of a story is waiting until nothing moves.
const stages = 8

// Of each class there is one more whose pods evict nobody.
const neverPreempting = "-never"

var priorities = map[string]int32{"low": 10, "middle": 100, "high": 1000, "higher": 1100, "highest": 2000}

func priorityClasses() []*schedulingv1.PriorityClass {
	never := v1.PreemptNever
	classes := []*schedulingv1.PriorityClass{}
	for name, value := range priorities {
		classes = append(classes, &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Value: value},
			&schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: name + neverPreempting}, Value: value, PreemptionPolicy: &never})
	}
	return classes
}

// story is what happens in a small cluster, drawn from a seed, one thing after the other. Each step is compared before the next.
//
// Nothing in it is left to chance but the choice among nodes of equal score: pods start at times of the story's own, so that
// among victims there is always a newest; and of two pods that wait at the same priority, of which the one would be tried first
// that happens to be, the later gives up.
type story struct {
	*stage
	seed   int64
	random *rand.Rand
	nodes  []*v1.Node
	pods   map[string]*v1.Pod // as they were made
	now    state              // what both came to
	made   int
	// The start of the pods that were given one.
	started map[string]time.Time
	told    tally
	over    bool
}

// tally is what stories came to.
type tally struct{ steps, bound, victims, waiting, ties, cut int }

func (a *tally) add(b tally) {
	a.steps += b.steps
	a.bound += b.bound
	a.victims += b.victims
	a.waiting += b.waiting
	a.ties += b.ties
	a.cut += b.cut
}

func (s *story) pick(texts ...string) string { return texts[s.random.Intn(len(texts))] }

func (s *story) chance(percent int) bool { return s.random.Intn(100) < percent }

// Everything is of different size, so that few decisions are ties.
func (s *story) makeNode() *v1.Node {
	i := len(s.nodes)
	node := harness.MakeNode(fmt.Sprintf("node-%d", i), strconv.Itoa(2+2*i+s.random.Intn(2)), "64Gi")
	node.Labels["disk"] = s.pick("fast", "slow")
	if s.chance(16) {
		node.Spec.Taints = []v1.Taint{{Key: "only", Value: "some", Effect: v1.TaintEffectNoSchedule}}
	}
	s.nodes = append(s.nodes, node)
	return node
}

func (s *story) makeBudget() *policyv1.PodDisruptionBudget {
	available := intstr.FromString("100%")
	if s.chance(50) {
		available = intstr.FromInt32(1 + s.random.Int31n(2))
	}
	return &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Name: "protected"},
		Spec:       policyv1.PodDisruptionBudgetSpec{MinAvailable: &available, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "protected"}}},
	}
}

func (s *story) makePod() *v1.Pod {
	pod := harness.MakePod(fmt.Sprintf("pod-%02d", s.made), "")
	s.made++
	pod.Spec.Containers[0].Resources.Requests = v1.ResourceList{
		v1.ResourceCPU:    *resource.NewMilliQuantity(int64(400+s.random.Intn(3000)), resource.DecimalSI),
		v1.ResourceMemory: *resource.NewQuantity(int64(1+s.random.Intn(1000))<<20, resource.BinarySI),
	}
	app := s.pick("protected", "other")
	pod.Labels["app"] = app
	pod.Spec.PriorityClassName = s.pick("low", "low", "middle", "middle", "high", "high", "higher", "highest")
	if s.chance(12) {
		pod.Spec.PriorityClassName += neverPreempting
	}
	if s.chance(25) {
		pod.Spec.NodeSelector = map[string]string{"disk": s.pick("fast", "slow")}
	}
	if s.chance(25) {
		pod.Spec.Tolerations = []v1.Toleration{{Key: "only", Operator: v1.TolerationOpExists}}
	}
	same := &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}
	switch s.random.Intn(10) {
	case 0:
		pod.Spec.Affinity = &v1.Affinity{PodAntiAffinity: &v1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{
			{LabelSelector: same, TopologyKey: v1.LabelHostname}}}}
	case 1:
		pod.Spec.TopologySpreadConstraints = []v1.TopologySpreadConstraint{
			{MaxSkew: 1, TopologyKey: v1.LabelHostname, WhenUnsatisfiable: v1.DoNotSchedule, LabelSelector: same}}
	case 2:
		pod.Spec.Containers[0].Ports = []v1.ContainerPort{{ContainerPort: 80, HostPort: 8080}}
	}
	s.pods[pod.Name] = pod
	return pod
}

func (s *story) priorityOf(name string) int32 {
	return priorities[strings.TrimSuffix(s.pods[name].Spec.PriorityClassName, neverPreempting)]
}

// compare waits for the end of a step. A tie that changed nothing but the one pod is undone: the pod comes again with the node
// that berth chose, in both clusters, and the story goes on. Any other ends it.
func (s *story) compare(t *testing.T, what, created string) {
	t.Helper()
	what = fmt.Sprintf("story %d, %s", s.seed, what)
	ours, theirs := s.rest(t, what)
	if differing := ours.differing(theirs); len(differing) > 0 {
		tied := s.explain(t, what, ours, theirs)
		if tied == "" {
			s.over = true
			s.keepLogs(t, s.seed)
			return
		}
		s.told.ties++
		if tied != created || len(differing) > 1 || len(ours) != len(s.now)+1 {
			t.Logf("%s: ends with a tie about %s", what, tied)
			s.told.cut++
			s.over = true
			return
		}
		s.delete(t, tied, atOnce())
		pod := s.pods[tied].DeepCopy()
		pod.Spec.NodeName = ours[tied].node
		s.create(t, pod)
		if ours, theirs = s.rest(t, what+" again"); len(ours.differing(theirs)) > 0 {
			t.Errorf("%s: after the tie about %s was undone %v differ\nberth:\n%v\nkube-scheduler:\n%v", what, tied, ours.differing(theirs), ours, theirs)
			s.over = true
			return
		}
	}
	s.told.steps++
	for name := range s.now {
		if _, there := ours[name]; !there {
			s.told.victims++
		}
	}
	s.now = ours
	s.giveStarts(t)
}

// giveStarts has the pods that are newly bound start in the order of their names, a minute apart.
func (s *story) giveStarts(t *testing.T) {
	t.Helper()
	names := []string{}
	for name, what := range s.now {
		if _, has := s.started[name]; what.node != "" && !has {
			names = append(names, name)
		}
	}
	sort.Strings(names)
	for _, name := range names {
		s.started[name] = time.Unix(1_700_000_000, 0).Add(time.Duration(len(s.started)) * time.Minute)
		s.setStart(t, name, s.started[name])
		s.told.bound++
	}
}

func (s *story) deletePod(t *testing.T, name string) {
	t.Helper()
	s.delete(t, name, metav1.DeleteOptions{})
	delete(s.now, name)
	s.compare(t, "deletion of "+name, "")
}

func (s *story) addNode(t *testing.T) string {
	t.Helper()
	node := s.makeNode()
	s.both(t, "create "+node.Name, func(c *cluster) error {
		_, err := c.Client.CoreV1().Nodes().Create(context.Background(), node.DeepCopy(), metav1.CreateOptions{})
		return err
	})
	return "creation of " + node.Name
}

// cordonNode closes a node for new pods, or opens it again. The taint that a controller would set goes with it: otherwise there
// are two events, and which of the pods that wait is tried when depends on the time between them.
func (s *story) cordonNode(t *testing.T) string {
	t.Helper()
	node := s.nodes[s.random.Intn(len(s.nodes))]
	node.Spec.Unschedulable = !node.Spec.Unschedulable
	node.Spec.Taints = slices.DeleteFunc(node.Spec.Taints, func(taint v1.Taint) bool { return taint.Key == v1.TaintNodeUnschedulable })
	if node.Spec.Unschedulable {
		node.Spec.Taints = append(node.Spec.Taints, v1.Taint{Key: v1.TaintNodeUnschedulable, Effect: v1.TaintEffectNoSchedule})
	}
	patch, err := json.Marshal(map[string]any{"spec": map[string]any{"unschedulable": node.Spec.Unschedulable, "taints": node.Spec.Taints}})
	if err != nil {
		t.Fatal(err)
	}
	s.both(t, "cordon "+node.Name, func(c *cluster) error {
		_, err := c.Client.CoreV1().Nodes().Patch(context.Background(), node.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{})
		return err
	})
	return fmt.Sprintf("unschedulable=%v of %s", node.Spec.Unschedulable, node.Name)
}

func (s *story) tell(t *testing.T) {
	t.Helper()
	s.both(t, "create the namespace", func(c *cluster) error {
		_, err := c.Client.CoreV1().Namespaces().Create(context.Background(), &v1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.namespace}}, metav1.CreateOptions{})
		return err
	})
	if s.chance(60) {
		budget := s.makeBudget()
		s.both(t, "create the budget", func(c *cluster) error {
			_, err := c.Client.PolicyV1().PodDisruptionBudgets(s.namespace).Create(context.Background(), budget.DeepCopy(), metav1.CreateOptions{})
			return err
		})
	}
	for range 2 + s.random.Intn(3) {
		s.addNode(t)
	}
	defer func() { s.clear(t, s.nodes) }()
	s.waitKnown(t, len(s.nodes))
	for range 10 + s.random.Intn(10) {
		if s.over {
			return
		}
		if len(s.now.waiting()) > 0 {
			s.outlastBackoff()
		}
		s.step(t)
		s.endCompetition(t)
	}
	if !s.over {
		s.told.waiting += len(s.now.waiting())
	}
}

func (s *story) step(t *testing.T) {
	t.Helper()
	switch what := s.random.Intn(100); {
	case what < 20 && len(s.now) > 2:
		names := []string{}
		for name := range s.now {
			names = append(names, name)
		}
		sort.Strings(names)
		s.deletePod(t, names[s.random.Intn(len(names))])
	case what < 27:
		s.compare(t, s.cordonNode(t), "")
	case what < 30:
		s.compare(t, s.addNode(t), "")
	default:
		pod := s.makePod()
		s.create(t, pod)
		s.compare(t, "creation of "+pod.Name, pod.Name)
	}
}

// endCompetition makes all but the first of the pods that wait at one priority give up.
func (s *story) endCompetition(t *testing.T) {
	t.Helper()
	taken := map[int32]bool{}
	for _, name := range s.now.waiting() {
		if s.over {
			return
		}
		if taken[s.priorityOf(name)] {
			s.deletePod(t, name)
		}
		taken[s.priorityOf(name)] = true
	}
}

func numberFrom(t *testing.T, name string, otherwise int64) int64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	number, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return number
}

// The same stories with berth and with kube-scheduler: after every step the same pods are bound to the same nodes, the same ones
// had to go, and those that wait say the same. Only a tie is an excuse, and only when kube-scheduler's own scores say so.
// BERTH_STORIES says how many (50), BERTH_STORIES_FROM the first seed (0).
func TestOutcomesEqualKubeSchedulers(t *testing.T) {
	count, first := numberFrom(t, "BERTH_STORIES", 50), numberFrom(t, "BERTH_STORIES_FROM", 0)
	seeds := make(chan int64, count)
	for seed := first; seed < first+count; seed++ {
		seeds <- seed
	}
	close(seeds)
	var mutex sync.Mutex
	var all tally
	t.Run("stages", func(t *testing.T) {
		for i := range min(stages, int(count)) {
			t.Run(strconv.Itoa(i), func(t *testing.T) {
				t.Parallel()
				stage := startStage(t, priorityClasses())
				for seed := range seeds {
					stage.namespace = fmt.Sprintf("story-%d", seed)
					s := &story{stage: stage, seed: seed, random: rand.New(rand.NewSource(seed)), pods: map[string]*v1.Pod{}, started: map[string]time.Time{}}
					s.tell(t)
					mutex.Lock()
					all.add(s.told)
					mutex.Unlock()
				}
			})
		}
	})
	t.Logf("%d steps compared: %d pods bound, %d victims, %d pods wait at the end; %d ties, which ended %d stories", all.steps, all.bound, all.victims, all.waiting, all.ties, all.cut)
	if count >= 50 && (all.steps < 300 || all.victims < 20 || all.waiting < 20) {
		t.Error("the stories are too dull to show anything")
	}
}
