package harness

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Namespace is where the scenarios put their pods.
const Namespace = "default"

// MakeNode is a node that is ready, with room for 110 pods.
func MakeNode(name, cpu, memory string, change ...func(*v1.Node)) *v1.Node {
	room := v1.ResourceList{
		v1.ResourceCPU: resource.MustParse(cpu), v1.ResourceMemory: resource.MustParse(memory), v1.ResourcePods: resource.MustParse("110"),
	}
	node := &v1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{v1.LabelHostname: name}},
		Status: v1.NodeStatus{
			Capacity: room, Allocatable: room,
			Conditions: []v1.NodeCondition{{Type: v1.NodeReady, Status: v1.ConditionTrue}},
		},
	}
	for _, one := range change {
		one(node)
	}
	return node
}

// InZone puts a node into a zone.
func InZone(zone string) func(*v1.Node) {
	return func(node *v1.Node) { node.Labels[v1.LabelTopologyZone] = zone }
}

// MakePod is a pod with one container.
func MakePod(name, cpu string, change ...func(*v1.Pod)) *v1.Pod {
	pod := &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: Namespace, Labels: map[string]string{}, Annotations: map[string]string{}},
		Spec:       PodSpec(cpu),
	}
	for _, one := range change {
		one(pod)
	}
	return pod
}

// PodSpec is what such a pod runs.
func PodSpec(cpu string) v1.PodSpec {
	requests := v1.ResourceList{}
	if cpu != "" {
		requests[v1.ResourceCPU] = resource.MustParse(cpu)
	}
	return v1.PodSpec{
		Containers: []v1.Container{{Name: "main", Image: "nothing", Resources: v1.ResourceRequirements{Requests: requests}}},
	}
}

// CreateNodes makes node-0, node-1 and so on.
func (c *ControlPlane) CreateNodes(t *testing.T, count int, cpu, memory string, change ...func(*v1.Node)) {
	t.Helper()
	c.InParallel(t, count, func(i int) error {
		_, err := c.Admin.CoreV1().Nodes().Create(context.Background(),
			MakeNode(fmt.Sprintf("node-%d", i), cpu, memory, change...), metav1.CreateOptions{})
		return err
	})
}

// CreatePod makes one pod.
func (c *ControlPlane) CreatePod(t *testing.T, pod *v1.Pod) *v1.Pod {
	t.Helper()
	created, err := c.Admin.CoreV1().Pods(Namespace).Create(context.Background(), pod, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return created
}

// CreatePods makes pods PREFIX-0, PREFIX-1 and so on.
func (c *ControlPlane) CreatePods(t *testing.T, prefix string, count int, cpu string, change ...func(*v1.Pod)) {
	t.Helper()
	c.InParallel(t, count, func(i int) error {
		_, err := c.Admin.CoreV1().Pods(Namespace).Create(context.Background(),
			MakePod(fmt.Sprintf("%s-%d", prefix, i), cpu, change...), metav1.CreateOptions{})
		return err
	})
}

// InParallel does something for 0 to count-1, eight at a time.
func (c *ControlPlane) InParallel(t *testing.T, count int, do func(int) error) {
	t.Helper()
	var workers sync.WaitGroup
	var failures sync.Map
	next := make(chan int)
	for range 8 {
		workers.Go(func() {
			for i := range next {
				if err := do(i); err != nil {
					failures.Store(i, err)
				}
			}
		})
	}
	for i := range count {
		next <- i
	}
	close(next)
	workers.Wait()
	failures.Range(func(i, err any) bool {
		t.Fatalf("number %v: %v", i, err)
		return false
	})
}

// Pods are all pods of the scenarios' namespace as the server has them now.
func (c *ControlPlane) Pods(t *testing.T) []v1.Pod {
	t.Helper()
	list, err := c.Admin.CoreV1().Pods(Namespace).List(context.Background(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return list.Items
}

// Pod is one pod as the server has it now.
func (c *ControlPlane) Pod(t *testing.T, name string) *v1.Pod {
	t.Helper()
	pod, err := c.Admin.CoreV1().Pods(Namespace).Get(context.Background(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return pod
}

// PatchPod changes a pod with a merge patch.
func (c *ControlPlane) PatchPod(t *testing.T, name, patch string) {
	t.Helper()
	_, err := c.Admin.CoreV1().Pods(Namespace).Patch(context.Background(), name, "application/merge-patch+json", []byte(patch), metav1.PatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
}

// DeletePod deletes a pod at once.
func (c *ControlPlane) DeletePod(t *testing.T, name string) {
	t.Helper()
	now := int64(0)
	err := c.Admin.CoreV1().Pods(Namespace).Delete(context.Background(), name, metav1.DeleteOptions{GracePeriodSeconds: &now})
	if err != nil {
		t.Fatal(err)
	}
}

// WaitBound waits until this many pods have a node, and no pod has none.
func (c *ControlPlane) WaitBound(t *testing.T, count int, limit time.Duration) {
	t.Helper()
	Eventually(t, limit, fmt.Sprintf("%d pods are bound", count), func() error {
		// From the server's cache: asking often costs little.
		list, err := c.Admin.CoreV1().Pods(Namespace).List(context.Background(), metav1.ListOptions{ResourceVersion: "0"})
		if err != nil {
			return err
		}
		bound, waiting := 0, ""
		for _, pod := range list.Items {
			if pod.Spec.NodeName != "" {
				bound++
			} else {
				waiting = fmt.Sprintf("; %s waits: %v", pod.Name, pod.Status.Conditions)
			}
		}
		if bound != count || bound != len(list.Items) {
			return fmt.Errorf("%d of %d pods have a node%s", bound, len(list.Items), waiting)
		}
		return nil
	})
}

// WaitPodBound waits until a pod has a node, and says which.
func (c *ControlPlane) WaitPodBound(t *testing.T, name string, limit time.Duration) string {
	t.Helper()
	node := ""
	Eventually(t, limit, name+" is bound", func() error {
		pod, err := c.Admin.CoreV1().Pods(Namespace).Get(context.Background(), name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if node = pod.Spec.NodeName; node == "" {
			return fmt.Errorf("conditions: %v", pod.Status.Conditions)
		}
		return nil
	})
	return node
}

// Condition is a pod's condition of a type, or nil.
func Condition(pod *v1.Pod, kind v1.PodConditionType) *v1.PodCondition {
	for i := range pod.Status.Conditions {
		if pod.Status.Conditions[i].Type == kind {
			return &pod.Status.Conditions[i]
		}
	}
	return nil
}

// EventsOf are the notes of events with a reason about an object.
func (c *ControlPlane) EventsOf(t *testing.T, name, reason string) []string {
	t.Helper()
	list, err := c.Admin.EventsV1().Events(Namespace).List(context.Background(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var notes []string
	for _, event := range list.Items {
		if event.Regarding.Name == name && event.Reason == reason {
			notes = append(notes, event.Note)
		}
	}
	return notes
}

// CheckBoundOnce fails the scenario if the audit log has more than one successful binding for a pod of now or then, or
// a pod is on another node than the binding said. Every pod must have one. A server whose client goes away in the
// middle may have bound the pod and still count the request as a failure; a server that was killed may not even have
// written that down.
func (c *ControlPlane) CheckBoundOnce(t *testing.T, serverKilled bool) {
	t.Helper()
	bound, unanswered := map[string][]Binding{}, map[string][]Binding{}
	for _, binding := range c.Bindings(t) {
		if binding.Successful() {
			bound[binding.Name] = append(bound[binding.Name], binding)
		} else if binding.Code >= 500 {
			unanswered[binding.Name] = append(unanswered[binding.Name], binding)
		}
	}
	for name, bindings := range bound {
		if len(bindings) > 1 {
			t.Errorf("%s was bound %d times: %v", name, len(bindings), bindings)
		}
	}
	for _, pod := range c.Pods(t) {
		bindings := bound[pod.Name]
		switch {
		case pod.Spec.NodeName == "":
			t.Errorf("%s has no node", pod.Name)
		case len(bindings) == 0 && !serverKilled && !slices.ContainsFunc(unanswered[pod.Name], func(b Binding) bool { return b.Node == pod.Spec.NodeName }):
			t.Errorf("%s has a node but nobody bound it", pod.Name)
		case len(bindings) == 1 && bindings[0].Node != pod.Spec.NodeName:
			t.Errorf("%s was bound to %s and is on %s", pod.Name, bindings[0].Node, pod.Spec.NodeName)
		}
	}
}

// CheckNoOvercommit fails the scenario if pods ask for more than a node has.
func (c *ControlPlane) CheckNoOvercommit(t *testing.T) {
	t.Helper()
	if err := c.overcommitted(); err != nil {
		t.Error(err)
	}
}

func (c *ControlPlane) overcommitted() error {
	nodes, err := c.Admin.CoreV1().Nodes().List(context.Background(), metav1.ListOptions{})
	if err != nil {
		return err
	}
	pods, err := c.Admin.CoreV1().Pods("").List(context.Background(), metav1.ListOptions{})
	if err != nil {
		return err
	}
	cpu, count := map[string]int64{}, map[string]int64{}
	for _, pod := range pods.Items {
		if pod.Spec.NodeName == "" || pod.Status.Phase == v1.PodSucceeded || pod.Status.Phase == v1.PodFailed {
			continue
		}
		count[pod.Spec.NodeName]++
		for _, container := range pod.Spec.Containers {
			cpu[pod.Spec.NodeName] += container.Resources.Requests.Cpu().MilliValue()
		}
	}
	var wrong []error
	for _, node := range nodes.Items {
		if has, want := node.Status.Allocatable.Cpu().MilliValue(), cpu[node.Name]; want > has {
			wrong = append(wrong, fmt.Errorf("%s has %dm of CPU and its pods ask for %dm", node.Name, has, want))
		}
		if has, want := node.Status.Allocatable.Pods().Value(), count[node.Name]; want > has {
			wrong = append(wrong, fmt.Errorf("%s has room for %d pods and has %d", node.Name, has, want))
		}
	}
	return errors.Join(wrong...)
}
