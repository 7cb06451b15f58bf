package scenarios

import (
	"context"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"berth/e2e/harness"
)

// story is what happens in a small cluster, drawn from a seed, wave by wave. A wave is over when nothing moves any more.
type story struct {
	seed    int64
	nodes   []*v1.Node
	budgets []*policyv1.PodDisruptionBudget
	waves   []wave
}

// wave is what users do at one time: pods go, others come one after the other.
type wave struct {
	gone  []string
	comes []*v1.Pod
}

var priorities = map[string]int32{"low": 10, "middle": 100, "high": 1000}

// Of each class there is one more whose pods evict nobody.
const patient = "-patient"

// Everything is of different size, so that few decisions are ties: no two nodes are equal, no two pods either.
func makeStory(seed int64) *story {
	random := rand.New(rand.NewSource(seed))
	s := &story{seed: seed}
	for i := range 2 + random.Intn(4) {
		node := harness.MakeNode(fmt.Sprintf("node-%d", i), strconv.Itoa(2+2*i+random.Intn(2)), "64Gi")
		node.Labels["disk"] = []string{"fast", "slow"}[random.Intn(2)]
		if random.Intn(6) == 0 {
			node.Spec.Taints = []v1.Taint{{Key: "only", Value: "some", Effect: v1.TaintEffectNoSchedule}}
		}
		s.nodes = append(s.nodes, node)
	}
	if random.Intn(2) == 0 {
		all := intstr.FromString("100%")
		s.budgets = append(s.budgets, &policyv1.PodDisruptionBudget{
			ObjectMeta: metav1.ObjectMeta{Name: "protected"},
			Spec:       policyv1.PodDisruptionBudgetSpec{MinAvailable: &all, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "protected"}}},
		})
	}
	names := []string{}
	made := 0
	for range 3 + random.Intn(3) {
		var one wave
		if len(names) > 0 && random.Intn(2) == 0 {
			one.gone = append(one.gone, names[random.Intn(len(names))])
		}
		for range 1 + random.Intn(6) {
			pod := harness.MakePod(fmt.Sprintf("pod-%02d", made), "")
			made++
			pod.Spec.Containers[0].Resources.Requests = v1.ResourceList{
				v1.ResourceCPU:    *resource.NewMilliQuantity(int64(200+random.Intn(2500)), resource.DecimalSI),
				v1.ResourceMemory: *resource.NewQuantity(int64(1+random.Intn(1000))<<20, resource.BinarySI),
			}
			pod.Labels["app"] = []string{"protected", "other"}[random.Intn(2)]
			pod.Spec.PriorityClassName = []string{"low", "middle", "high"}[random.Intn(3)]
			if random.Intn(4) == 0 {
				pod.Spec.NodeSelector = map[string]string{"disk": []string{"fast", "slow"}[random.Intn(2)]}
			}
			if random.Intn(8) == 0 {
				pod.Spec.PriorityClassName += patient
			}
			if random.Intn(4) == 0 {
				pod.Spec.Tolerations = []v1.Toleration{{Key: "only", Operator: v1.TolerationOpExists}}
			}
			names = append(names, pod.Name)
			one.comes = append(one.comes, pod)
		}
		s.waves = append(s.waves, one)
	}
	return s
}

// outcome is what a story came to.
type outcome struct {
	nodes   map[string]string // of pods that are bound
	waiting map[string]string // of the others, what they say
	victims []string          // in order of their names
}

func (o outcome) String() string {
	lines := []string{}
	for pod, node := range o.nodes {
		lines = append(lines, pod+" on "+node)
	}
	for pod, why := range o.waiting {
		lines = append(lines, pod+" waits: "+why)
	}
	sort.Strings(lines)
	return strings.Join(append(lines, "victims: "+strings.Join(o.victims, " ")), "\n")
}

// tell plays the story on a sandbox with one of the schedulers.
func (s *story) tell(t *testing.T, sandbox *harness.Sandbox, namespace string) outcome {
	t.Helper()
	ctx := context.Background()
	client := sandbox.Client
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, node := range s.nodes {
		_, err := client.CoreV1().Nodes().Create(ctx, node.DeepCopy(), metav1.CreateOptions{})
		must(err)
	}
	_, err := client.CoreV1().Namespaces().Create(ctx, &v1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, metav1.CreateOptions{})
	must(err)
	for _, budget := range s.budgets {
		_, err := client.PolicyV1().PodDisruptionBudgets(namespace).Create(ctx, budget.DeepCopy(), metav1.CreateOptions{})
		must(err)
	}
	s.waitKnown(t, sandbox, namespace, len(s.nodes))
	existing := map[string]bool{}
	result := outcome{nodes: map[string]string{}, waiting: map[string]string{}}
	lost := map[string]bool{}
	settle := func() {
		t.Helper()
		last, since := "", time.Now()
		harness.Eventually(t, 2*time.Minute, fmt.Sprintf("story %d comes to rest", s.seed), func() error {
			list, err := client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{})
			if err != nil {
				return err
			}
			now := map[string]bool{}
			state := []string{}
			for _, pod := range list.Items {
				now[pod.Name] = true
				condition := harness.Condition(&pod, v1.PodScheduled)
				text := ""
				if condition != nil {
					text = string(condition.Status) + condition.Message
				}
				decided := pod.Spec.NodeName != "" && pod.Status.Phase == v1.PodRunning || pod.Spec.NodeName == "" && text != "" && pod.Status.NominatedNodeName == ""
				if !decided || pod.DeletionTimestamp != nil {
					state = append(state, "moving")
				}
				state = append(state, pod.Name, pod.Spec.NodeName, pod.ResourceVersion)
			}
			for name := range existing {
				if !now[name] {
					lost[name] = true
					delete(existing, name)
				}
			}
			text := strings.Join(state, " ")
			if text != last || strings.Contains(text, "moving") {
				last, since = text, time.Now()
			}
			if time.Since(since) < 500*time.Millisecond {
				return fmt.Errorf("still moving: %s", text)
			}
			return nil
		})
	}
	gone := map[string]bool{}
	for _, one := range s.waves {
		for _, name := range one.gone {
			gone[name] = true
			if err := client.CoreV1().Pods(namespace).Delete(ctx, name, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
				t.Fatal(err)
			}
			if !lost[name] {
				delete(existing, name)
			}
		}
		if len(one.gone) > 0 {
			settle()
		}
		for _, pod := range one.comes {
			copied := pod.DeepCopy()
			copied.Namespace = namespace
			_, err := client.CoreV1().Pods(namespace).Create(ctx, copied, metav1.CreateOptions{})
			must(err)
			existing[pod.Name] = true
			// One after the other: which of two is tried first is nobody's promise.
			settle()
		}
	}
	list, err := client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{})
	must(err)
	for _, pod := range list.Items {
		if pod.Spec.NodeName != "" {
			result.nodes[pod.Name] = pod.Spec.NodeName
		} else if condition := harness.Condition(&pod, v1.PodScheduled); condition != nil {
			result.waiting[pod.Name] = condition.Message
		}
		must(client.CoreV1().Pods(namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{}))
	}
	for name := range lost {
		if !gone[name] {
			result.victims = append(result.victims, name)
		}
	}
	sort.Strings(result.victims)
	harness.Eventually(t, time.Minute, "the pods are gone", func() error {
		list, err := client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		return wantEqual("pods", len(list.Items), 0)
	})
	for _, node := range s.nodes {
		must(client.CoreV1().Nodes().Delete(ctx, node.Name, metav1.DeleteOptions{}))
	}
	s.waitKnown(t, sandbox, namespace, 0)
	return result
}

// waitKnown waits until the scheduler knows that there are so many nodes, which it hears of on another stream than of
// pods. A pod that asks for too much is told the number.
func (s *story) waitKnown(t *testing.T, sandbox *harness.Sandbox, namespace string, count int) {
	t.Helper()
	want := "no nodes available to schedule pods"
	if count > 0 {
		want = fmt.Sprintf("0/%d nodes are available:", count)
	}
	ctx := context.Background()
	pods := sandbox.Client.CoreV1().Pods(namespace)
	for i := 0; ; i++ {
		probe := harness.MakePod(fmt.Sprintf("probe-%d-%d", count, i), "1000")
		probe.Namespace = namespace
		if _, err := pods.Create(ctx, probe, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		knows := false
		harness.Eventually(t, time.Minute, "the probe is judged", func() error {
			pod, err := pods.Get(ctx, probe.Name, metav1.GetOptions{})
			if err != nil {
				return err
			}
			condition := harness.Condition(pod, v1.PodScheduled)
			if condition == nil {
				return fmt.Errorf("no condition yet")
			}
			knows = condition.Status == v1.ConditionFalse && strings.HasPrefix(condition.Message, want)
			return nil
		})
		zero := int64(0)
		if err := pods.Delete(ctx, probe.Name, metav1.DeleteOptions{GracePeriodSeconds: &zero}); err != nil && !apierrors.IsNotFound(err) {
			t.Fatal(err)
		}
		if knows {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
}

func startOutcomeSandbox(t *testing.T, flags ...string) *harness.Sandbox {
	t.Helper()
	s := harness.StartSandbox(t, append([]string{"--nodes", "0"}, flags...)...)
	never := v1.PreemptNever
	for name, value := range priorities {
		for _, class := range []*schedulingv1.PriorityClass{
			{ObjectMeta: metav1.ObjectMeta{Name: name}, Value: value},
			{ObjectMeta: metav1.ObjectMeta{Name: name + patient}, Value: value, PreemptionPolicy: &never},
		} {
			if _, err := s.Client.SchedulingV1().PriorityClasses().Create(context.Background(), class, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	return s
}

func joined[V any](m map[string]V) string {
	names := []string{}
	for name := range m {
		names = append(names, name)
	}
	sort.Strings(names)
	return strings.Join(names, " ")
}

// The same stories with berth and with kube-scheduler: the same pods are bound, and the same ones had to go.
// BERTH_STORIES says how many (50), BERTH_STORY which one alone.
func TestOutcomesEqualKubeSchedulers(t *testing.T) {
	count, only := 50, int64(-1)
	if text := os.Getenv("BERTH_STORIES"); text != "" {
		count, _ = strconv.Atoi(text)
	}
	if text := os.Getenv("BERTH_STORY"); text != "" {
		only, _ = strconv.ParseInt(text, 10, 64)
	}
	ours := startOutcomeSandbox(t)
	theirs := startOutcomeSandbox(t, "--no-scheduler")
	theirs.StartKubeScheduler(t)
	report, err := os.Create(filepath.Join(ours.Logs, "outcomes.txt"))
	if err != nil {
		t.Fatal(err)
	}
	defer report.Close()
	victims, waiting, sameNode, bound, diverged := 0, 0, 0, 0, 0
	for seed := int64(0); seed < int64(count); seed++ {
		if only >= 0 && seed != only {
			continue
		}
		s := makeStory(seed)
		namespace := fmt.Sprintf("story-%d", seed)
		told := make(chan outcome, 1)
		go func() {
			defer close(told)
			told <- s.tell(t, theirs, namespace)
		}()
		mine := s.tell(t, ours, namespace)
		real, complete := <-told
		if !complete {
			t.Fatalf("story %d was not told to its end", seed)
		}
		fmt.Fprintf(report, "== story %d\nberth:\n%v\nkube-scheduler:\n%v\n", seed, mine, real)
		victims += len(real.victims)
		waiting += len(real.waiting)
		bound += len(real.nodes)
		for pod, node := range real.nodes {
			if mine.nodes[pod] == node {
				sameNode++
			}
		}
		// A pod on another node is a tie or a difference in scores, which the recorded cases look for; what follows from it
		// is no difference of its own.
		elsewhere := []string{}
		for pod, node := range real.nodes {
			if other, bound := mine.nodes[pod]; bound && other != node {
				elsewhere = append(elsewhere, pod)
			}
		}
		if len(elsewhere) > 0 {
			diverged++
			t.Logf("story %d: %v are on other nodes than with kube-scheduler", seed, elsewhere)
			continue
		}
		if a, b := joined(mine.nodes), joined(real.nodes); a != b {
			t.Errorf("story %d: berth bound [%s], kube-scheduler [%s]\nberth:\n%v\nkube-scheduler:\n%v", seed, a, b, mine, real)
			continue
		}
		if a, b := strings.Join(mine.victims, " "), strings.Join(real.victims, " "); a != b {
			t.Errorf("story %d: berth evicted [%s], kube-scheduler [%s]", seed, a, b)
		}
		for pod, why := range real.waiting {
			// What it says is of its last attempt, and when that was is nobody's promise.
			if mine.waiting[pod] != why {
				t.Logf("story %d: %s waits\nberth: %s\nkube-scheduler: %s", seed, pod, mine.waiting[pod], why)
			}
		}
	}
	if diverged*4 > count {
		t.Errorf("%d of %d stories took another way: that many ties are not likely", diverged, count)
	}
	t.Logf("%d pods bound, %d of them to the same node; %d victims, %d pods that wait", bound, sameNode, victims, waiting)
	if only < 0 && (victims == 0 || waiting == 0 || bound == 0) {
		t.Error("the stories are too dull to show anything")
	}
}
