package scenarios

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth/e2e/harness"
)

const (
	withHold = `profiles:
- schedulerName: default-scheduler
  plugins: {multiPoint: {enabled: [{name: ExampleHold}]}}
`
	notReady   = "NotReadyForScheduling"
	hold       = "berth.dev/hold"
	unhold     = `{"metadata":{"annotations":{"berth.dev/hold":null}}}`
	reportTime = 5 * time.Second
)

func held(message string) func(*v1.Pod) {
	return func(pod *v1.Pod) { pod.Annotations[hold] = message }
}

// reportedAs is an error unless the pod's condition and event say why it is held.
func reportedAs(t *testing.T, c *harness.ControlPlane, name, message string) error {
	t.Helper()
	condition := harness.Condition(c.Pod(t, name), v1.PodScheduled)
	if condition == nil {
		return errors.New("no condition")
	}
	if condition.Status != v1.ConditionFalse || condition.Reason != notReady || condition.Message != message {
		return fmt.Errorf("condition: %v", condition)
	}
	events := c.EventsOf(t, name, notReady)
	if len(events) != 1 || events[0] != message {
		return fmt.Errorf("events: %q", events)
	}
	return nil
}

func statusPatches(t *testing.T, c *harness.ControlPlane, pod string) []harness.Request {
	t.Helper()
	return c.Requests(t, func(r harness.Request) bool {
		return r.Resource == "pods/status" && r.Name == pod && r.User == harness.SchedulerUser
	})
}

// KEP-5501: a pod that is held before it enters the queue says why, after five quiet seconds, once.
func TestProposalHeldPodSaysWhy(t *testing.T) {
	harness.OnBothServers(t, harness.Options{}, proposalHeldPodSaysWhy)
}

func proposalHeldPodSaysWhy(t *testing.T, c *harness.ControlPlane) {
	c.CreateNodes(t, 2, "8", "16Gi")
	options := harness.SchedulerOptions{Configuration: withHold}
	scheduler := c.StartScheduler(t, options)
	scheduler.WaitReady(t)

	// Held for longer than the delay: condition and event, neither before the five seconds are over.
	c.CreatePod(t, harness.MakePod("licence", "1", held("waits for a licence")))
	created := time.Now()
	// Passes in time: neither is ever written.
	c.CreatePod(t, harness.MakePod("quick", "1", held("a moment")))
	harness.Throughout(t, 2*time.Second, "no report yet", func() error {
		return wantEqual("patches", len(statusPatches(t, c, "quick"))+len(statusPatches(t, c, "licence")), 0)
	})
	c.PatchPod(t, "quick", unhold)
	c.WaitPodBound(t, "quick", 10*time.Second)

	harness.Eventually(t, 15*time.Second, "the report is there", func() error { return reportedAs(t, c, "licence", "waits for a licence") })
	patches := statusPatches(t, c, "licence")
	if len(patches) != 1 {
		t.Errorf("want one patch: %v", patches)
	} else if after := patches[0].Received.Sub(created); after < reportTime-100*time.Millisecond || after > reportTime+3*time.Second {
		t.Errorf("reported after %v", after)
	}
	if events := c.EventsOf(t, "quick", notReady); len(events) != 0 {
		t.Errorf("a pod that passed in time has events: %q", events)
	}
	for _, patch := range statusPatches(t, c, "quick") {
		if strings.Contains(string(patch.Body), notReady) {
			t.Errorf("a pod that passed in time was reported: %s", patch.Body)
		}
	}

	// A changed reason replaces the old one.
	c.PatchPod(t, "licence", `{"metadata":{"annotations":{"berth.dev/hold":"waits for two licences"}}}`)
	harness.Eventually(t, 15*time.Second, "the new reason is there", func() error {
		condition := harness.Condition(c.Pod(t, "licence"), v1.PodScheduled)
		return wantEqual("message", condition.Message, "waits for two licences")
	})

	// A restart before the delay is over: the new process reports. After it: nothing changes.
	c.CreatePod(t, harness.MakePod("restart", "1", held("over a restart")))
	before := harness.Condition(c.Pod(t, "licence"), v1.PodScheduled)
	scheduler.Kill()
	scheduler = c.StartScheduler(t, options)
	scheduler.WaitReady(t)
	harness.Eventually(t, 15*time.Second, "the report is there after a restart", func() error {
		return reportedAs(t, c, "restart", "over a restart")
	})
	if after := harness.Condition(c.Pod(t, "licence"), v1.PodScheduled); *after != *before {
		t.Errorf("a restart changed the condition from %v to %v", before, after)
	}
	if err := wantEqual("patches over the restart", len(statusPatches(t, c, "licence")), 2); err != nil {
		t.Error(err)
	}

	// When nothing holds it any more, the pod is bound and the report is gone.
	c.PatchPod(t, "licence", unhold)
	c.WaitPodBound(t, "licence", 10*time.Second)
	if condition := harness.Condition(c.Pod(t, "licence"), v1.PodScheduled); condition == nil || condition.Status != v1.ConditionTrue {
		t.Errorf("condition of the bound pod: %v", condition)
	}
	checkNothingRefused(t, c)
}

// KEP-5501: an API server that answers 500 for ten seconds does not lose the report.
func TestProposalReportSurvivesServerErrors(t *testing.T) {
	harness.OnBothServers(t, harness.Options{}, proposalReportSurvivesServerErrors)
}

func proposalReportSurvivesServerErrors(t *testing.T, c *harness.ControlPlane) {
	c.CreateNodes(t, 1, "8", "16Gi")
	proxy := c.StartHTTPProxy(t)
	scheduler := c.StartScheduler(t, harness.SchedulerOptions{
		Kubeconfig: c.SchedulerTokenKubeconfig(t, proxy.Port), Configuration: withHold,
	})
	scheduler.WaitReady(t)

	var sick atomic.Bool
	sick.Store(true)
	proxy.Answering(func(r *http.Request) harness.Answer {
		if sick.Load() && r.Method == http.MethodPatch && strings.HasSuffix(r.URL.Path, "/status") {
			return harness.Answer{Code: 500}
		}
		return harness.Answer{}
	})
	start := time.Now()
	c.CreatePod(t, harness.MakePod("licence", "1", held("waits for a licence")))
	harness.Eventually(t, 15*time.Second, "the report is tried", func() error {
		for _, request := range proxy.Requests(start) {
			if request.Answered == 500 {
				return nil
			}
		}
		return errors.New("not yet")
	})
	time.Sleep(10 * time.Second) // as long as the server is sick
	sick.Store(false)
	harness.Eventually(t, 40*time.Second, "the report is there", func() error { return reportedAs(t, c, "licence", "waits for a licence") })
	tries := 0
	for _, request := range proxy.Requests(start) {
		if request.Answered == 500 {
			tries++
		}
	}
	if tries > 60 {
		t.Errorf("the report was tried %d times in ten seconds", tries)
	}
}

// KEP-5142: with nothing else to do, a pod in backoff is tried at once when something changed; a pod whose last attempt
// met an API error waits until its backoff is over.
func TestProposalPopsFromBackoff(t *testing.T) {
	harness.OnBothServers(t, harness.Options{}, proposalPopsFromBackoff)
}

func proposalPopsFromBackoff(t *testing.T, c *harness.ControlPlane) {
	c.CreateNodes(t, 1, "1", "16Gi")
	proxy := c.StartHTTPProxy(t)
	scheduler := c.StartScheduler(t, harness.SchedulerOptions{
		Kubeconfig:    c.SchedulerTokenKubeconfig(t, proxy.Port),
		Configuration: "podInitialBackoffSeconds: 60\npodMaxBackoffSeconds: 60\n",
	})
	scheduler.WaitReady(t)

	c.CreatePod(t, harness.MakePod("big", "4"))
	harness.Eventually(t, 10*time.Second, "the pod does not fit", func() error {
		condition := harness.Condition(c.Pod(t, "big"), v1.PodScheduled)
		if condition == nil || condition.Reason != v1.PodReasonUnschedulable {
			return fmt.Errorf("condition: %v", condition)
		}
		return nil
	})

	proxy.Answering(func(r *http.Request) harness.Answer {
		if strings.HasSuffix(r.URL.Path, "/pods/unlucky/binding") {
			return harness.Answer{Code: 500}
		}
		return harness.Answer{}
	})
	start := time.Now()
	c.CreatePod(t, harness.MakePod("unlucky", "500m"))
	harness.Eventually(t, 20*time.Second, "the attempt of the unlucky pod fails", func() error {
		condition := harness.Condition(c.Pod(t, "unlucky"), v1.PodScheduled)
		if condition == nil || condition.Status != v1.ConditionFalse {
			return fmt.Errorf("condition: %v", condition)
		}
		return nil
	})
	failed := time.Now()
	proxy.Answering(nil)

	// Something changes that may help both: the big pod is tried at once, the other waits.
	if _, err := c.Admin.CoreV1().Nodes().Create(context.Background(), harness.MakeNode("roomy", "8", "16Gi"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	c.WaitPodBound(t, "big", 5*time.Second)
	harness.Throughout(t, 45*time.Second-time.Since(failed), "the unlucky pod waits", func() error {
		return wantEqual("its node", c.Pod(t, "unlucky").Spec.NodeName, "")
	})
	c.WaitPodBound(t, "unlucky", 90*time.Second)
	if after := time.Since(start); after < 58*time.Second {
		t.Errorf("the unlucky pod was bound %v after its creation, before its backoff was over", after)
	}
}

// KEP-5278: a scheduler that dies between nomination and binding is followed by one that keeps the node for the pod,
// though others want it.
func TestProposalNominationOutlivesTheScheduler(t *testing.T) {
	harness.OnBothServers(t, harness.Options{}, proposalNominationOutlivesTheScheduler)
}

func proposalNominationOutlivesTheScheduler(t *testing.T, c *harness.ControlPlane) {
	c.CreateNodes(t, 2, "1", "16Gi")
	options := harness.SchedulerOptions{Configuration: withHold}
	scheduler := c.StartScheduler(t, options)
	scheduler.WaitReady(t)

	c.CreatePod(t, harness.MakePod("slow", "1", func(pod *v1.Pod) { pod.Annotations["berth.dev/prebind-wait"] = "10s" }))
	nominated := ""
	harness.Eventually(t, 5*time.Second, "the pod says where it is going", func() error {
		if nominated = c.Pod(t, "slow").Status.NominatedNodeName; nominated == "" {
			return errors.New("no nominated node")
		}
		return nil
	})
	scheduler.Kill()
	if node := c.Pod(t, "slow").Spec.NodeName; node != "" {
		t.Fatalf("too late: bound to %s", node)
	}
	c.CreatePods(t, "rival", 4, "1")

	scheduler = c.StartScheduler(t, options)
	scheduler.WaitReady(t)
	if node := c.WaitPodBound(t, "slow", 40*time.Second); node != nominated {
		t.Errorf("nominated for %s and bound to %s", nominated, node)
	}
	harness.Eventually(t, 10*time.Second, "one rival has the other node", func() error {
		bound := 0
		for _, pod := range c.Pods(t) {
			if pod.Spec.NodeName != "" {
				bound++
			}
		}
		return wantEqual("bound pods", bound, 2)
	})
	c.CheckNoOvercommit(t)
}

// KEP-6132: with ten thousand pods waiting for claims, the event of one claim looks at the pods that use it.
func TestProposalClaimEventLooksAtItsPods(t *testing.T) {
	harness.OnBothServers(t, harness.Options{}, proposalClaimEventLooksAtItsPods)
}

func proposalClaimEventLooksAtItsPods(t *testing.T, c *harness.ControlPlane) {
	c.CreateNodes(t, 3, "32", "64Gi")
	scheduler := c.StartScheduler(t, harness.SchedulerOptions{})
	scheduler.WaitReady(t)

	const pods, claims = 10000, 100
	c.InParallel(t, pods, func(i int) error {
		pod := harness.MakePod(fmt.Sprintf("waits-%d", i), "10m", func(pod *v1.Pod) {
			pod.Spec.Volumes = []v1.Volume{{Name: "data", VolumeSource: v1.VolumeSource{
				PersistentVolumeClaim: &v1.PersistentVolumeClaimVolumeSource{ClaimName: fmt.Sprintf("claim-%d", i%claims)},
			}}}
		})
		_, err := c.Admin.CoreV1().Pods(harness.Namespace).Create(context.Background(), pod, metav1.CreateOptions{})
		return err
	})
	harness.Eventually(t, 3*time.Minute, "all pods wait", func() error {
		return wantEqual("pending pods", scheduler.Metric(t, "scheduler_pending_pods", `queue="unschedulable"`), pods)
	})

	const hints = "scheduler_queueing_hint_execution_duration_seconds_count"
	const preHints = "scheduler_pre_queueing_hint_evaluations_total"
	claimAdded := `event="PersistentVolumeClaimAdd"`
	hintsBefore := scheduler.Metric(t, hints, claimAdded)
	narrowedBefore := scheduler.Metric(t, preHints, `plugin="VolumeBinding"`, `result="narrowed"`)
	attemptsBefore := scheduler.Metric(t, "scheduler_schedule_attempts_total")

	class := ""
	if _, err := c.Admin.CoreV1().PersistentVolumeClaims(harness.Namespace).Create(context.Background(), &v1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: "claim-7"},
		Spec: v1.PersistentVolumeClaimSpec{
			StorageClassName: &class, AccessModes: []v1.PersistentVolumeAccessMode{v1.ReadWriteOnce},
			Resources: v1.VolumeResourceRequirements{Requests: v1.ResourceList{v1.ResourceStorage: resource.MustParse("1Gi")}},
		},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	harness.Eventually(t, 30*time.Second, "the pods of the claim were tried again", func() error {
		return wantEqual("attempts", scheduler.Metric(t, "scheduler_schedule_attempts_total")-attemptsBefore, pods/claims)
	})
	if err := wantEqual("hints evaluated", scheduler.Metric(t, hints, claimAdded)-hintsBefore, pods/claims); err != nil {
		t.Error(err)
	}
	if err := wantEqual("narrowed", scheduler.Metric(t, preHints, `plugin="VolumeBinding"`, `result="narrowed"`)-narrowedBefore, 1); err != nil {
		t.Error(err)
	}
}
