package harness

import (
	"context"
	"encoding/json"
	"sync"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
)

// StartKubelets acts as the kubelet of every node: a pod that gets a node runs and is ready, and one that is to go
// goes at once.
func (c *ControlPlane) StartKubelets(t *testing.T) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	factory := informers.NewSharedInformerFactory(c.Admin, 0)
	pods := factory.Core().V1().Pods().Informer()

	var work sync.WaitGroup
	slots := make(chan struct{}, 8)
	act := func(object any) {
		pod, isPod := object.(*v1.Pod)
		if !isPod || pod.Spec.NodeName == "" {
			return
		}
		var do func() error
		switch {
		case pod.DeletionTimestamp != nil:
			do = func() error { return c.finish(ctx, pod) }
		case pod.Status.Phase == v1.PodPending:
			do = func() error { return c.run(ctx, pod) }
		default:
			return
		}
		work.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			_ = do() // the pod may be gone or changed; then another event follows
		})
	}
	if _, err := pods.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: act, UpdateFunc: func(_, now any) { act(now) },
	}); err != nil {
		t.Fatal(err)
	}
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	t.Cleanup(func() {
		stop()
		factory.Shutdown()
		work.Wait()
	})
}

func (c *ControlPlane) finish(ctx context.Context, pod *v1.Pod) error {
	now := int64(0)
	return c.Admin.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{
		GracePeriodSeconds: &now, Preconditions: &metav1.Preconditions{UID: &pod.UID},
	})
}

func (c *ControlPlane) run(ctx context.Context, pod *v1.Pod) error {
	started := metav1.Now()
	status := v1.PodStatus{
		Phase: v1.PodRunning, StartTime: &started,
		Conditions: []v1.PodCondition{
			{Type: v1.PodInitialized, Status: v1.ConditionTrue, LastTransitionTime: started},
			{Type: v1.ContainersReady, Status: v1.ConditionTrue, LastTransitionTime: started},
			{Type: v1.PodReady, Status: v1.ConditionTrue, LastTransitionTime: started},
		},
		ContainerStatuses: []v1.ContainerStatus{{
			Name: pod.Spec.Containers[0].Name, Ready: true, Image: pod.Spec.Containers[0].Image,
			State: v1.ContainerState{Running: &v1.ContainerStateRunning{StartedAt: started}},
		}},
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": pod.UID}, "status": status})
	if err != nil {
		return err
	}
	_, err = c.Admin.CoreV1().Pods(pod.Namespace).Patch(ctx, pod.Name, "application/strategic-merge-patch+json", patch,
		metav1.PatchOptions{}, "status")
	return err
}
