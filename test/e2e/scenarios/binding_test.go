package scenarios

import (
	"context"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth/e2e/harness"
)

// A thousand pods on fifty nodes, with the rights that RBAC gives to system:kube-scheduler and nothing more.
func TestBindsWithTheSchedulersRights(t *testing.T) {
	c := harness.StartControlPlane(t, harness.Options{})
	c.CreateNodes(t, 50, "32", "64Gi")
	scheduler := c.StartScheduler(t, harness.SchedulerOptions{LeaderElection: "leaderElect: true"})
	scheduler.WaitReady(t)

	const count = 1000
	c.CreatePods(t, "pod", count, "100m")
	c.WaitBound(t, count, 2*time.Minute)
	c.CheckBoundOnce(t, false)
	c.CheckNoOvercommit(t)

	harness.Eventually(t, 30*time.Second, "each pod has one event Scheduled", func() error {
		events, err := c.Admin.EventsV1().Events(harness.Namespace).List(context.Background(), metav1.ListOptions{})
		if err != nil {
			return err
		}
		scheduled := map[string]int{}
		for _, event := range events.Items {
			if event.Reason == "Scheduled" {
				scheduled[event.Regarding.Name]++
			}
		}
		return wantEqual("pods with an event", len(scheduled), count)
	})
	checkNothingRefused(t, c)
}

// checkNothingRefused fails the scenario if the scheduler asked for something that it has no right to.
func checkNothingRefused(t *testing.T, c *harness.ControlPlane) {
	t.Helper()
	requests := c.Requests(t, func(r harness.Request) bool { return r.User == harness.SchedulerUser })
	if len(requests) == 0 {
		t.Error("the audit log has no request of the scheduler")
	}
	for _, request := range requests {
		if request.Code == 401 || request.Code == 403 {
			t.Errorf("refused: %s", request)
		}
	}
}
