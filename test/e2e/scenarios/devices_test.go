package scenarios

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth/e2e/harness"
)

var deviceControllers = harness.Options{Controllers: []string{"resourceclaim-controller"}}

// addDevices makes nodes with devices, a class of them, and a template of claims for one.
func addDevices(t *testing.T, c *harness.ControlPlane, nodes, devices int) {
	t.Helper()
	c.CreateNodes(t, nodes, "8", "16Gi")
	for i := range nodes {
		if _, err := c.Admin.ResourceV1().ResourceSlices().Create(context.Background(), slice(i, devices), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.Admin.ResourceV1().DeviceClasses().Create(context.Background(), &resourcev1.DeviceClass{
		ObjectMeta: metav1.ObjectMeta{Name: "gpu"},
		Spec: resourcev1.DeviceClassSpec{Selectors: []resourcev1.DeviceSelector{{
			CEL: &resourcev1.CELDeviceSelector{Expression: `device.driver == "gpu.example.com"`},
		}}},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	request := resourcev1.ResourceClaimSpec{Devices: resourcev1.DeviceClaim{Requests: []resourcev1.DeviceRequest{{
		Name: "one", Exactly: &resourcev1.ExactDeviceRequest{DeviceClassName: "gpu"},
	}}}}
	if _, err := c.Admin.ResourceV1().ResourceClaimTemplates(harness.Namespace).Create(context.Background(), &resourcev1.ResourceClaimTemplate{
		ObjectMeta: metav1.ObjectMeta{Name: "one-gpu"}, Spec: resourcev1.ResourceClaimTemplateSpec{Spec: request},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

func slice(node, devices int) *resourcev1.ResourceSlice {
	name := fmt.Sprintf("node-%d", node)
	made := &resourcev1.ResourceSlice{
		ObjectMeta: metav1.ObjectMeta{Name: name + "-gpus"},
		Spec: resourcev1.ResourceSliceSpec{
			Driver: "gpu.example.com", NodeName: &name,
			Pool: resourcev1.ResourcePool{Name: name, Generation: 1, ResourceSliceCount: 1},
		},
	}
	for i := range devices {
		made.Spec.Devices = append(made.Spec.Devices, resourcev1.Device{Name: fmt.Sprintf("gpu-%d", i)})
	}
	return made
}

func fromTemplate(pod *v1.Pod) {
	name := "one-gpu"
	pod.Spec.ResourceClaims = []v1.PodResourceClaim{{Name: "gpu", ResourceClaimTemplateName: &name}}
	pod.Spec.Containers[0].Resources.Claims = []v1.ResourceClaim{{Name: "gpu"}}
}

func fromClaim(claim string) func(*v1.Pod) {
	return func(pod *v1.Pod) {
		pod.Spec.ResourceClaims = []v1.PodResourceClaim{{Name: "gpu", ResourceClaimName: &claim}}
		pod.Spec.Containers[0].Resources.Claims = []v1.ResourceClaim{{Name: "gpu"}}
	}
}

func countBound(t *testing.T, c *harness.ControlPlane) int {
	t.Helper()
	bound := 0
	for _, pod := range c.Pods(t) {
		if pod.Spec.NodeName != "" {
			bound++
		}
	}
	return bound
}

// checkDevices fails the scenario if a device is given away twice, or a bound pod has none of its node.
func checkDevices(t *testing.T, c *harness.ControlPlane) {
	t.Helper()
	claims, err := c.Admin.ResourceV1().ResourceClaims(harness.Namespace).List(context.Background(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	owners := map[string]string{}
	pools := map[string]string{} // by pod
	for _, claim := range claims.Items {
		if claim.Status.Allocation == nil {
			continue
		}
		for _, result := range claim.Status.Allocation.Devices.Results {
			device := result.Pool + "/" + result.Device
			if other, taken := owners[device]; taken {
				t.Errorf("%s belongs to %s and %s", device, other, claim.Name)
			}
			owners[device] = claim.Name
			for _, consumer := range claim.Status.ReservedFor {
				pools[consumer.Name] = result.Pool
			}
		}
	}
	for _, pod := range c.Pods(t) {
		if pod.Spec.NodeName != "" && pools[pod.Name] != pod.Spec.NodeName {
			t.Errorf("%s is on %s and its device on %q", pod.Name, pod.Spec.NodeName, pools[pod.Name])
		}
	}
}

// Claims from templates by the controller, one shared claim, and a slice that grows while pods wait.
func TestDevicesFromTemplates(t *testing.T) {
	harness.OnBothServers(t, deviceControllers, devicesFromTemplates)
}

func devicesFromTemplates(t *testing.T, c *harness.ControlPlane) {
	addDevices(t, c, 3, 2)
	scheduler := c.StartScheduler(t, harness.SchedulerOptions{})
	scheduler.WaitReady(t)
	c.CreatePods(t, "pod", 8, "100m", fromTemplate)
	harness.Eventually(t, time.Minute, "six pods have the six devices", func() error { return wantEqual("bound", countBound(t, c), 6) })
	checkDevices(t, c)
	harness.Eventually(t, 20*time.Second, "the others say why they wait", func() error {
		for _, pod := range c.Pods(t) {
			if pod.Spec.NodeName != "" {
				continue
			}
			condition := harness.Condition(&pod, v1.PodScheduled)
			if condition == nil || !strings.Contains(condition.Message, "3 cannot allocate all claims") {
				return fmt.Errorf("%s: %v", pod.Name, condition)
			}
		}
		return nil
	})

	grown, err := c.Admin.ResourceV1().ResourceSlices().Get(context.Background(), "node-1-gpus", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	grown.Spec.Devices = append(grown.Spec.Devices, resourcev1.Device{Name: "gpu-2"}, resourcev1.Device{Name: "gpu-3"})
	grown.Spec.Pool.Generation++
	if _, err := c.Admin.ResourceV1().ResourceSlices().Update(context.Background(), grown, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	harness.Eventually(t, 30*time.Second, "all pods are bound", func() error { return wantEqual("bound", countBound(t, c), 8) })
	checkDevices(t, c)

	// A pod that goes frees its device for the next.
	c.CreatePod(t, harness.MakePod("next", "100m", fromTemplate))
	c.DeletePod(t, "pod-0")
	c.WaitPodBound(t, "next", time.Minute)
	checkDevices(t, c)
	checkNothingRefused(t, c)
}

// KEP-5501 and KEP-6132 with claims: a pod without its claim says so, and goes on when it comes.
func TestDevicesMissingClaim(t *testing.T) {
	harness.OnBothServers(t, deviceControllers, devicesMissingClaim)
}

func devicesMissingClaim(t *testing.T, c *harness.ControlPlane) {
	addDevices(t, c, 2, 2)
	scheduler := c.StartScheduler(t, harness.SchedulerOptions{})
	scheduler.WaitReady(t)
	c.CreatePods(t, "user", 3, "100m", fromClaim("shared"))
	// Others wait for claims that never come.
	const others = 200
	c.InParallel(t, others, func(i int) error {
		_, err := c.Admin.CoreV1().Pods("kube-public").Create(context.Background(),
			harness.MakePod(fmt.Sprintf("other-%d", i), "100m", fromClaim(fmt.Sprintf("missing-%d", i)), func(pod *v1.Pod) { pod.Namespace = "kube-public" }),
			metav1.CreateOptions{})
		return err
	})
	harness.Eventually(t, 20*time.Second, "the pod says what is missing", func() error {
		condition := harness.Condition(c.Pod(t, "user-0"), v1.PodScheduled)
		if condition == nil || condition.Reason != notReady || !strings.Contains(condition.Message, "shared") {
			return fmt.Errorf("condition: %v", condition)
		}
		return nil
	})
	harness.Eventually(t, 30*time.Second, "all pods are held", func() error {
		return wantEqual("gated pods", scheduler.Metric(t, "scheduler_pending_pods", `queue="gated"`), others+3)
	})
	const hints, narrowed = "scheduler_queueing_hint_execution_duration_seconds_count", "scheduler_pre_queueing_hint_evaluations_total"
	claimAdded := []string{`plugin="DynamicResources"`, `event="ResourceClaimAdd"`}
	byPreHint := []string{`plugin="DynamicResources"`, `result="narrowed"`}
	hintsBefore, narrowedBefore := scheduler.Metric(t, hints, claimAdded...), scheduler.Metric(t, narrowed, byPreHint...)
	if _, err := c.Admin.ResourceV1().ResourceClaims(harness.Namespace).Create(context.Background(), &resourcev1.ResourceClaim{
		ObjectMeta: metav1.ObjectMeta{Name: "shared"},
		Spec: resourcev1.ResourceClaimSpec{Devices: resourcev1.DeviceClaim{Requests: []resourcev1.DeviceRequest{{
			Name: "one", Exactly: &resourcev1.ExactDeviceRequest{DeviceClassName: "gpu"},
		}}}},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	c.WaitBound(t, 3, 30*time.Second)
	// The new claim was looked at for its own pods, and the two hundred others were left alone.
	if evaluated := scheduler.Metric(t, hints, claimAdded...) - hintsBefore; evaluated > 3 {
		t.Errorf("%v hints were evaluated for the claim of three pods", evaluated)
	}
	if scheduler.Metric(t, narrowed, byPreHint...) == narrowedBefore {
		t.Error("no event was narrowed to the pods of its claim")
	}
	nodes := map[string]bool{}
	for _, pod := range c.Pods(t) {
		nodes[pod.Spec.NodeName] = true
	}
	if len(nodes) != 1 {
		t.Errorf("the pods of one claim are on several nodes: %v", nodes)
	}
	checkDevices(t, c)
	checkNothingRefused(t, c)
}

// The scheduler dies between the allocation and the binding: the next one uses what was allocated.
func TestDevicesSchedulerKilledBeforeBinding(t *testing.T) {
	harness.OnBothServers(t, deviceControllers, devicesSchedulerKilledBeforeBinding)
}

func devicesSchedulerKilledBeforeBinding(t *testing.T, c *harness.ControlPlane) {
	addDevices(t, c, 2, 1)
	options := harness.SchedulerOptions{Configuration: withHold}
	scheduler := c.StartScheduler(t, options)
	scheduler.WaitReady(t)
	c.CreatePod(t, harness.MakePod("slow", "100m", fromTemplate, func(pod *v1.Pod) { pod.Annotations["berth.dev/prebind-wait"] = "8s" }))
	node := ""
	harness.Eventually(t, 20*time.Second, "the pod has a device", func() error {
		claims, err := c.Admin.ResourceV1().ResourceClaims(harness.Namespace).List(context.Background(), metav1.ListOptions{})
		if err != nil {
			return err
		}
		for _, claim := range claims.Items {
			if claim.Status.Allocation != nil {
				node = claim.Status.Allocation.Devices.Results[0].Pool
				return nil
			}
		}
		return errors.New("nothing is allocated")
	})
	scheduler.Kill()
	if bound := c.Pod(t, "slow").Spec.NodeName; bound != "" {
		t.Fatalf("too late: bound to %s", bound)
	}
	c.CreatePods(t, "rival", 2, "100m", fromTemplate)
	scheduler = c.StartScheduler(t, options)
	scheduler.WaitReady(t)
	if got := c.WaitPodBound(t, "slow", time.Minute); got != node {
		t.Errorf("the device is on %s and the pod on %s", node, got)
	}
	harness.Eventually(t, 20*time.Second, "one rival has the other device", func() error { return wantEqual("bound", countBound(t, c), 2) })
	checkDevices(t, c)
}

// A driver has to say that a device is ready. It never does on one node, so the pod is given another device in time; it
// does on the other, and only then the pod is bound.
func TestDevicesBindingConditions(t *testing.T) {
	harness.OnBothServers(t, deviceControllers, devicesBindingConditions)
}

func devicesBindingConditions(t *testing.T, c *harness.ControlPlane) {
	addDevices(t, c, 2, 0)
	options := harness.SchedulerOptions{Configuration: `profiles:
- schedulerName: default-scheduler
  pluginConfig: [{name: DynamicResources, args: {bindingTimeout: 4s}}]
`}
	scheduler := c.StartScheduler(t, options)
	scheduler.WaitReady(t)
	offer := func(node int) {
		t.Helper()
		name := fmt.Sprintf("node-%d-gpus", node)
		offered, err := c.Admin.ResourceV1().ResourceSlices().Get(context.Background(), name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		binds := true
		offered.Spec.Devices = []resourcev1.Device{{
			Name: "gpu-0", BindsToNode: &binds,
			BindingConditions: []string{"example.com/ready"}, BindingFailureConditions: []string{"example.com/failed"},
		}}
		offered.Spec.Pool.Generation++
		if _, err := c.Admin.ResourceV1().ResourceSlices().Update(context.Background(), offered, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	// The claim's allocation in a pool, or nil.
	allocated := func(pool string) *resourcev1.ResourceClaim {
		t.Helper()
		claims, err := c.Admin.ResourceV1().ResourceClaims(harness.Namespace).List(context.Background(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for i := range claims.Items {
			if status := claims.Items[i].Status; status.Allocation != nil && status.Allocation.Devices.Results[0].Pool == pool {
				return &claims.Items[i]
			}
		}
		return nil
	}
	waitAllocated := func(pool string, limit time.Duration) *resourcev1.ResourceClaim {
		t.Helper()
		var claim *resourcev1.ResourceClaim
		harness.Eventually(t, limit, "the claim has the device of "+pool, func() error {
			if claim = allocated(pool); claim == nil {
				return errors.New("it has not")
			}
			return nil
		})
		return claim
	}

	offer(0)
	c.CreatePod(t, harness.MakePod("pod", "100m", fromTemplate))
	waitAllocated("node-0", 20*time.Second)
	harness.Throughout(t, 2*time.Second, "the pod waits for the driver", func() error {
		return wantEqual("its node", c.Pod(t, "pod").Spec.NodeName, "")
	})
	// The other node gets a device, and the first cannot be chosen again.
	offer(1)
	c.Kubectl(t, 10*time.Second, "cordon", "node-0")
	claim := waitAllocated("node-1", 40*time.Second)
	if node := c.Pod(t, "pod").Spec.NodeName; node != "" {
		t.Errorf("bound to %s before its device was ready", node)
	}

	result := claim.Status.Allocation.Devices.Results[0]
	claim.Status.Devices = []resourcev1.AllocatedDeviceStatus{{
		Driver: result.Driver, Pool: result.Pool, Device: result.Device,
		Conditions: []metav1.Condition{{Type: "example.com/ready", Status: metav1.ConditionTrue, Reason: "Made", LastTransitionTime: metav1.Now()}},
	}}
	if _, err := c.Admin.ResourceV1().ResourceClaims(harness.Namespace).UpdateStatus(context.Background(), claim, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	if node := c.WaitPodBound(t, "pod", 30*time.Second); node != "node-1" {
		t.Errorf("bound to %s, and its device is on node-1", node)
	}
	checkDevices(t, c)
	checkNothingRefused(t, c)
}
