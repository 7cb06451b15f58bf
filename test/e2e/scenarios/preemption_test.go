package scenarios

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"berth/e2e/harness"
)

func createPriority(t *testing.T, c *harness.ControlPlane, name string, value int32) func(*v1.Pod) {
	t.Helper()
	if _, err := c.Admin.SchedulingV1().PriorityClasses().Create(context.Background(),
		&schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Value: value}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	return func(pod *v1.Pod) { pod.Spec.PriorityClassName = name }
}

func labelled(key, value string) func(*v1.Pod) {
	return func(pod *v1.Pod) { pod.Labels[key] = value }
}

func boundWithPrefix(t *testing.T, c *harness.ControlPlane, prefix string) int {
	t.Helper()
	count := 0
	for _, pod := range c.Pods(t) {
		if pod.Spec.NodeName != "" && pod.DeletionTimestamp == nil && pod.Labels["app"] == prefix {
			count++
		}
	}
	return count
}

// Important pods take the places of others, but not of those that a disruption budget protects, and of no more than
// they need.
func TestPreemptionSparesBudgets(t *testing.T) {
	harness.OnBothServers(t, harness.Options{Controllers: []string{"disruption-controller"}}, preemptionSparesBudgets)
}

func preemptionSparesBudgets(t *testing.T, c *harness.ControlPlane) {
	c.StartKubelets(t)
	c.CreateNodes(t, 10, "4", "64Gi")
	scheduler := c.StartScheduler(t, harness.SchedulerOptions{})
	scheduler.WaitReady(t)
	low, high := createPriority(t, c, "low", 10), createPriority(t, c, "high", 1000)

	all := intstr.FromInt32(20)
	if _, err := c.Admin.PolicyV1().PodDisruptionBudgets(harness.Namespace).Create(context.Background(), &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Name: "protected"},
		Spec:       policyv1.PodDisruptionBudgetSpec{MinAvailable: &all, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "protected"}}},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	c.CreatePods(t, "protected", 20, "1", low, labelled("app", "protected"))
	c.CreatePods(t, "other", 20, "1", low, labelled("app", "other"))
	c.WaitBound(t, 40, time.Minute)
	harness.Eventually(t, 30*time.Second, "the budget knows its pods", func() error {
		budget, err := c.Admin.PolicyV1().PodDisruptionBudgets(harness.Namespace).Get(context.Background(), "protected", metav1.GetOptions{})
		if err != nil {
			return err
		}
		return wantEqual("healthy pods", budget.Status.CurrentHealthy, 20)
	})

	c.CreatePods(t, "important", 10, "1", high, labelled("app", "important"))
	harness.Eventually(t, time.Minute, "the important pods are bound", func() error {
		return wantEqual("bound", boundWithPrefix(t, c, "important"), 10)
	})
	if err := wantEqual("protected pods", boundWithPrefix(t, c, "protected"), 20); err != nil {
		t.Error(err)
	}
	// Nobody was evicted without need: ten pods needed ten places.
	if err := wantEqual("other pods", boundWithPrefix(t, c, "other"), 10); err != nil {
		t.Error(err)
	}
	victims := c.Requests(t, func(r harness.Request) bool {
		return r.User == harness.SchedulerUser && r.Verb == "delete" && r.Resource == "pods" && r.Successful()
	})
	if err := wantEqual("deletions", len(victims), 10); err != nil {
		t.Errorf("%v: %v", err, victims)
	}
	c.CheckNoOvercommit(t)
	checkNothingRefused(t, c)
}

// Five hundred pods take the places of five hundred others on a server that needs 50 ms for each write.
func TestPreemptionOnASlowServer(t *testing.T) {
	harness.OnBothServers(t, harness.Options{}, preemptionOnASlowServer)
}

func preemptionOnASlowServer(t *testing.T, c *harness.ControlPlane) {
	c.StartKubelets(t)
	c.CreateNodes(t, 50, "10", "64Gi")
	proxy := c.StartHTTPProxy(t)
	scheduler := c.StartScheduler(t, harness.SchedulerOptions{Kubeconfig: c.SchedulerTokenKubeconfig(t, proxy.Port)})
	scheduler.WaitReady(t)
	low, high := createPriority(t, c, "low", 10), createPriority(t, c, "high", 1000)
	c.CreatePods(t, "low", 500, "1", low, labelled("app", "low"))
	c.WaitBound(t, 500, time.Minute)

	proxy.Answering(func(r *http.Request) harness.Answer {
		if r.Method == http.MethodGet {
			return harness.Answer{}
		}
		return harness.Answer{Delay: 50 * time.Millisecond}
	})
	start := time.Now()
	c.CreatePods(t, "high", 500, "1", high, labelled("app", "high"))
	c.WaitBound(t, 500, 4*time.Minute)
	t.Logf("500 pods took the places of 500 others in %.1f s", time.Since(start).Seconds())
	if err := wantEqual("important pods bound", boundWithPrefix(t, c, "high"), 500); err != nil {
		t.Error(err)
	}
	victims := map[string]bool{}
	for _, request := range c.Requests(t, func(r harness.Request) bool {
		return r.User == harness.SchedulerUser && r.Verb == "delete" && r.Resource == "pods" && r.Successful()
	}) {
		victims[request.Name] = true
	}
	if err := wantEqual("victims", len(victims), 500); err != nil {
		t.Error(err)
	}
	c.CheckBoundOnce(t, false)
	c.CheckNoOvercommit(t)
}

// A Deployment of two hundred pods, spread over zones, is rolled to a new version while nodes are drained.
func TestRollingUpdateWithDrains(t *testing.T) {
	harness.OnBothServers(t, harness.Options{
		Controllers: []string{"deployment-controller", "replicaset-controller", "disruption-controller", "garbage-collector-controller"},
	}, rollingUpdateWithDrains)
}

func rollingUpdateWithDrains(t *testing.T, c *harness.ControlPlane) {
	c.StartKubelets(t)
	zones := []string{"a", "b", "c"}
	c.InParallel(t, 12, func(i int) error {
		_, err := c.Admin.CoreV1().Nodes().Create(context.Background(),
			harness.MakeNode(fmt.Sprintf("node-%d", i), "32", "64Gi", harness.InZone(zones[i%3])), metav1.CreateOptions{})
		return err
	})
	scheduler := c.StartScheduler(t, harness.SchedulerOptions{})
	scheduler.WaitReady(t)

	ctx := context.Background()
	replicas := int32(200)
	labels := map[string]string{"app": "web"}
	template := v1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: harness.PodSpec("1")}
	template.Spec.TopologySpreadConstraints = []v1.TopologySpreadConstraint{{
		MaxSkew: 1, TopologyKey: v1.LabelTopologyZone, WhenUnsatisfiable: v1.DoNotSchedule,
		LabelSelector: &metav1.LabelSelector{MatchLabels: labels}, MatchLabelKeys: []string{"pod-template-hash"},
	}}
	deployments := c.Admin.AppsV1().Deployments(harness.Namespace)
	if _, err := deployments.Create(ctx, &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec:       appsv1.DeploymentSpec{Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: template},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	half := intstr.FromString("80%")
	if _, err := c.Admin.PolicyV1().PodDisruptionBudgets(harness.Namespace).Create(ctx, &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec:       policyv1.PodDisruptionBudgetSpec{MinAvailable: &half, Selector: &metav1.LabelSelector{MatchLabels: labels}},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	rolledOut := func() error {
		deployment, err := deployments.Get(ctx, "web", metav1.GetOptions{})
		if err != nil {
			return err
		}
		status := deployment.Status
		if status.ObservedGeneration != deployment.Generation || status.UpdatedReplicas != replicas || status.Replicas != replicas || status.AvailableReplicas != replicas {
			return fmt.Errorf("status: %+v", status)
		}
		return nil
	}
	harness.Eventually(t, 2*time.Minute, "the Deployment is there", rolledOut)

	if _, err := deployments.Patch(ctx, "web", "application/strategic-merge-patch+json",
		[]byte(`{"spec":{"template":{"spec":{"containers":[{"name":"main","image":"nothing:2"}]}}}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, node := range []string{"node-0", "node-4"} {
		c.Kubectl(t, 3*time.Minute, "drain", node, "--force", "--timeout=170s")
	}
	harness.Eventually(t, 3*time.Minute, "the update is rolled out", rolledOut)

	perZone := map[string]int{}
	for _, pod := range c.Pods(t) {
		if pod.DeletionTimestamp != nil {
			continue
		}
		if pod.Spec.NodeName == "node-0" || pod.Spec.NodeName == "node-4" {
			t.Errorf("%s is on %s, which was drained", pod.Name, pod.Spec.NodeName)
		}
		var number int
		if _, err := fmt.Sscanf(pod.Spec.NodeName, "node-%d", &number); err != nil {
			t.Fatal(err)
		}
		perZone[zones[number%3]]++
	}
	t.Logf("pods per zone: %v", perZone)
	for _, zone := range zones {
		if perZone[zone] < 66 || perZone[zone] > 67 {
			t.Errorf("zone %s has %d of 200 pods", zone, perZone[zone])
		}
	}
	c.CheckNoOvercommit(t)
	checkNothingRefused(t, c)
}
