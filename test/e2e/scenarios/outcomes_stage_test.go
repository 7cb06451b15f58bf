package scenarios

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"berth/e2e/harness"
)

// A step has come to an end when both clusters have been at rest, and equal, for `quiet`. If they are not equal they get much
// longer, so that what is called a difference is none of speed.
const (
	quiet   = 300 * time.Millisecond
	patient = 4 * time.Second
	// A pod that failed is not tried again before this; both schedulers are configured so.
	backoff = time.Second
)

// cluster is a sandbox with one of the two schedulers.
type cluster struct {
	*harness.Sandbox
	scheduler *harness.Process
}

// stage is a cluster with berth and one with kube-scheduler. What happens in one happens in the other.
type stage struct {
	ours, theirs *cluster
	namespace    string
	// When something was last seen to happen.
	moved time.Time
}

// podState is what a scheduler has made of a pod.
type podState struct{ node, message string }

func (p podState) String() string {
	if p.node != "" {
		return "on " + p.node
	}
	return "waits: " + p.message
}

// state is what became of all pods that are there.
type state map[string]podState

func (s state) String() string {
	lines := []string{}
	for pod, what := range s {
		lines = append(lines, "  "+pod+" "+what.String())
	}
	sort.Strings(lines)
	return strings.Join(lines, "\n")
}

// waiting are the pods without a node.
func (s state) waiting() []string {
	names := []string{}
	for pod, what := range s {
		if what.node == "" {
			names = append(names, pod)
		}
	}
	sort.Strings(names)
	return names
}

// differing are the pods with different fates; one that is missing differs from one that is there.
func (s state) differing(other state) []string {
	names := []string{}
	for pod, what := range s {
		if there, found := other[pod]; !found || there != what {
			names = append(names, pod)
		}
	}
	for pod := range other {
		if _, found := s[pod]; !found {
			names = append(names, pod)
		}
	}
	sort.Strings(names)
	return names
}

func startStage(t *testing.T, classes []*schedulingv1.PriorityClass) *stage {
	t.Helper()
	logs := harness.LogFolder(t)
	start := func(name string, flags ...string) *cluster {
		c := &cluster{Sandbox: harness.StartSandboxIn(t, logs, name+"-sandbox", "--nodes", "0", "--no-scheduler")}
		for _, class := range classes {
			if _, err := c.Client.SchedulingV1().PriorityClasses().Create(context.Background(), class, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		c.scheduler = c.StartSchedulerProcess(t, name, "podInitialBackoffSeconds: 1\npodMaxBackoffSeconds: 1\nleaderElection: {leaderElect: false}\n", flags...)
		return c
	}
	// At this level kube-scheduler tells the scores by which it decides.
	return &stage{ours: start("berth"), theirs: start("kube-scheduler", "--v=10")}
}

// both does the same in both clusters.
func (s *stage) both(t *testing.T, what string, do func(c *cluster) error) {
	t.Helper()
	var workers sync.WaitGroup
	failures := make([]error, 2)
	for i, one := range []*cluster{s.ours, s.theirs} {
		workers.Go(func() { failures[i] = do(one) })
	}
	workers.Wait()
	for _, err := range failures {
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	s.moved = time.Now()
}

func (s *stage) create(t *testing.T, pod *v1.Pod) {
	t.Helper()
	s.both(t, "create "+pod.Name, func(c *cluster) error {
		copied := pod.DeepCopy()
		copied.Namespace = s.namespace
		_, err := c.Client.CoreV1().Pods(s.namespace).Create(context.Background(), copied, metav1.CreateOptions{})
		return err
	})
}

func (s *stage) delete(t *testing.T, name string, options metav1.DeleteOptions) {
	t.Helper()
	s.both(t, "delete "+name, func(c *cluster) error {
		err := c.Client.CoreV1().Pods(s.namespace).Delete(context.Background(), name, options)
		if apierrors.IsNotFound(err) {
			return nil
		}
		return err
	})
}

func atOnce() metav1.DeleteOptions {
	zero := int64(0)
	return metav1.DeleteOptions{GracePeriodSeconds: &zero}
}

// budgets are what may still be evicted, which another program works out.
func (s *stage) budgets(c *cluster) (string, error) {
	list, err := c.Client.PolicyV1().PodDisruptionBudgets(s.namespace).List(context.Background(), metav1.ListOptions{})
	if err != nil {
		return "", err
	}
	text := ""
	for _, budget := range list.Items {
		text += fmt.Sprintf(" %s: %d of %d", budget.Name, budget.Status.DisruptionsAllowed, budget.Status.ExpectedPods)
	}
	return text, nil
}

// look reads what became of the pods, and something that changes whenever one of them does; none while one is on its way.
func (s *stage) look(c *cluster) (state, string, error) {
	list, err := c.Client.CoreV1().Pods(s.namespace).List(context.Background(), metav1.ListOptions{})
	if err != nil {
		return nil, "", err
	}
	result, versions := state{}, []string{}
	for _, pod := range list.Items {
		condition := harness.Condition(&pod, v1.PodScheduled)
		bound := pod.Spec.NodeName != "" && pod.Status.Phase == v1.PodRunning && pod.Status.StartTime != nil
		waits := pod.Spec.NodeName == "" && pod.Status.NominatedNodeName == "" && condition != nil && condition.Message != ""
		if pod.DeletionTimestamp != nil || !bound && !waits {
			return nil, "", fmt.Errorf("%s is on its way", pod.Name)
		}
		versions = append(versions, pod.Name+" "+pod.ResourceVersion)
		if bound {
			result[pod.Name] = podState{node: pod.Spec.NodeName}
		} else {
			result[pod.Name] = podState{message: condition.Message}
		}
	}
	sort.Strings(versions)
	return result, strings.Join(versions, " "), nil
}

// rest waits until nothing moves any more and gives what both came to.
func (s *stage) rest(t *testing.T, what string) (ours, theirs state) {
	t.Helper()
	last, since := "", time.Now()
	harness.Eventually(t, 2*time.Minute, what+" comes to rest", func() error {
		var versions, budgets [2]string
		var err error
		if ours, versions[0], err = s.look(s.ours); err == nil {
			theirs, versions[1], err = s.look(s.theirs)
		}
		for i, c := range []*cluster{s.ours, s.theirs} {
			if err == nil {
				budgets[i], err = s.budgets(c)
			}
		}
		now := strings.Join(append(versions[:], budgets[:]...), "|")
		if err != nil || now != last {
			last, since, s.moved = now, time.Now(), time.Now()
		}
		if err != nil {
			return err
		}
		wait := quiet
		if len(ours.differing(theirs)) > 0 || budgets[0] != budgets[1] {
			wait = patient
		}
		if time.Since(since) < wait {
			return fmt.Errorf("still moving: %s", now)
		}
		return nil
	})
	return ours, theirs
}

// outlastBackoff lets pods that failed forget when that was. Without, the order in which pods are tried that an event wakes
// together would depend on fractions of seconds instead of their priorities.
func (s *stage) outlastBackoff() { time.Sleep(time.Until(s.moved.Add(backoff + 100*time.Millisecond))) }

// setStart makes the pod the oldest or newest that the story wants, whenever it was really started: it decides who is evicted,
// and counts whole seconds.
func (s *stage) setStart(t *testing.T, pod string, at time.Time) {
	t.Helper()
	s.both(t, "set the start of "+pod, func(c *cluster) error {
		patch := fmt.Sprintf(`{"status":{"startTime":%q}}`, at.UTC().Format(time.RFC3339))
		_, err := c.Client.CoreV1().Pods(s.namespace).Patch(context.Background(), pod, types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{}, "status")
		return err
	})
}

var (
	scoreLine = regexp.MustCompile(`"Calculated node's final score for pod" pod="([^"]+)" node="([^"]+)" score=(-?\d+)`)
	boundLine = regexp.MustCompile(`"Successfully bound pod to node" pod="([^"]+)" node="([^"]+)"`)
)

// bestNodes are those that kube-scheduler gave the highest score when it last decided about the pod; none if there was nothing
// to choose.
func (s *stage) bestNodes(t *testing.T, pod string) []string {
	t.Helper()
	log, err := os.ReadFile(s.theirs.scheduler.LogPath)
	if err != nil {
		t.Fatal(err)
	}
	scores := map[string]int{}
	for _, line := range scoreLine.FindAllStringSubmatch(string(log), -1) {
		if line[1] != s.namespace+"/"+pod {
			continue
		}
		if _, again := scores[line[2]]; again {
			scores = map[string]int{} // of an earlier attempt
		}
		scores[line[2]], _ = strconv.Atoi(line[3])
	}
	best, nodes := 0, []string{}
	for node, score := range scores {
		if len(nodes) == 0 || score > best {
			best, nodes = score, nil
		}
		if score == best {
			nodes = append(nodes, node)
		}
	}
	sort.Strings(nodes)
	return nodes
}

// firstElsewhere is the pod that kube-scheduler bound first of those that berth has on another node.
func (s *stage) firstElsewhere(t *testing.T, ours, theirs state) string {
	t.Helper()
	log, err := os.ReadFile(s.theirs.scheduler.LogPath)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range boundLine.FindAllStringSubmatch(string(log), -1) {
		pod, mine := strings.CutPrefix(line[1], s.namespace+"/")
		if mine && ours[pod].node != "" && theirs[pod].node != "" && ours[pod].node != theirs[pod].node {
			return pod
		}
	}
	return ""
}

// explain says which pod was a tie if that is why the clusters differ, and fails otherwise. They were equal before, so the first
// pod that went elsewhere was decided on the same cluster; it is a tie if kube-scheduler's own scores say that berth's node
// is as good as the one it took. What follows in the same step follows from that.
func (s *stage) explain(t *testing.T, what string, ours, theirs state) (tied string) {
	t.Helper()
	first := s.firstElsewhere(t, ours, theirs)
	best := []string{}
	if first != "" {
		best = s.bestNodes(t, first)
		if len(best) > 1 && slices.Contains(best, ours[first].node) && slices.Contains(best, theirs[first].node) {
			return first
		}
	}
	t.Errorf("%s: %v differ, and that is no tie (the first one elsewhere is %q, the best nodes for it were %v)\nberth:\n%v\nkube-scheduler:\n%v",
		what, ours.differing(theirs), first, best, ours, theirs)
	return ""
}

// waitKnown waits until both know that there are so many nodes, which they hear of on another stream than of pods. A pod that
// asks for too much is told the number.
func (s *stage) waitKnown(t *testing.T, count int) {
	t.Helper()
	want := "no nodes available to schedule pods"
	if count > 0 {
		want = fmt.Sprintf("0/%d nodes are available:", count)
	}
	ctx := context.Background()
	for i := 0; ; i++ {
		probe := harness.MakePod(fmt.Sprintf("probe-%d-%d", count, i), "1000")
		s.create(t, probe)
		knows := true
		for _, c := range []*cluster{s.ours, s.theirs} {
			harness.Eventually(t, time.Minute, "the probe is judged", func() error {
				pod, err := c.Client.CoreV1().Pods(s.namespace).Get(ctx, probe.Name, metav1.GetOptions{})
				if err != nil {
					return err
				}
				condition := harness.Condition(pod, v1.PodScheduled)
				if condition == nil {
					return fmt.Errorf("no condition yet")
				}
				knows = knows && condition.Status == v1.ConditionFalse && strings.HasPrefix(condition.Message, want)
				return nil
			})
		}
		s.delete(t, probe.Name, atOnce())
		if knows {
			return
		}
	}
}

// clear takes everything away again.
func (s *stage) clear(t *testing.T, nodes []*v1.Node) {
	t.Helper()
	s.both(t, "delete the pods", func(c *cluster) error {
		return c.Client.CoreV1().Pods(s.namespace).DeleteCollection(context.Background(), atOnce(), metav1.ListOptions{})
	})
	for _, node := range nodes {
		s.both(t, "delete "+node.Name, func(c *cluster) error {
			return c.Client.CoreV1().Nodes().Delete(context.Background(), node.Name, metav1.DeleteOptions{})
		})
	}
	s.waitKnown(t, 0)
}

// keepLogs copies what the schedulers said so far, for whoever looks into a difference.
func (s *stage) keepLogs(t *testing.T, seed int64) {
	t.Helper()
	for _, c := range []*cluster{s.ours, s.theirs} {
		if text, err := os.ReadFile(c.scheduler.LogPath); err == nil {
			_ = os.WriteFile(filepath.Join(c.Logs, fmt.Sprintf("story-%d-%s.log", seed, c.scheduler.Name)), text, 0o644)
		}
	}
}
