package scenarios

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth/e2e/harness"
)

const (
	leaseDuration = 6 * time.Second
	renewDeadline = 4 * time.Second
	retryPeriod   = time.Second
	// A standby looks every retryPeriod * [1, 2.2), so it may see the last renewal that late, and the expiry again.
	takeoverMax = leaseDuration + 2*22*retryPeriod/10 + 3*time.Second
)

var election = fmt.Sprintf("leaderElect: true, leaseDuration: %v, renewDeadline: %v, retryPeriod: %v", leaseDuration, renewDeadline, retryPeriod)

// candidate is one of several schedulers, with a user of its own, so that the audit log tells them apart, and a proxy
// of its own, so that it can be cut off alone.
type candidate struct {
	*harness.Scheduler
	name  string
	proxy *harness.Proxy
}

func startCandidate(t *testing.T, c *harness.ControlPlane, name string) *candidate {
	t.Helper()
	c.GiveSchedulerRights(t, rbacv1.Subject{Kind: "User", Name: name})
	proxy := harness.StartProxy(t, c.Port)
	kubeconfig := c.Kubeconfig(t, name, proxy.Port, c.Authority.Client(t, name))
	scheduler := c.StartScheduler(t, harness.SchedulerOptions{Name: name, Kubeconfig: kubeconfig, LeaderElection: election, QPS: 60})
	return &candidate{scheduler, name, proxy}
}

func (m *candidate) restart(t *testing.T, c *harness.ControlPlane) {
	t.Helper()
	m.Scheduler = c.StartScheduler(t, harness.SchedulerOptions{
		Name: m.name, Kubeconfig: c.Kubeconfig(t, m.name, m.proxy.Port, c.Authority.Client(t, m.name)), LeaderElection: election, QPS: 60,
	})
}

// A reign begins when a lease write of a user succeeds after another user's.
type reign struct {
	user string
	from time.Time
}

func reigns(t *testing.T, c *harness.ControlPlane) []reign {
	t.Helper()
	var found []reign
	for _, request := range c.Requests(t, func(r harness.Request) bool {
		return r.Resource == "leases" && r.Successful() && (r.Verb == "create" || r.Verb == "update") && r.Namespace == "kube-system" &&
			!strings.HasPrefix(r.User, "system:") // the server has a lease of its own
	}) {
		var lease struct {
			Spec struct{ HolderIdentity *string }
		}
		if err := json.Unmarshal(request.Body, &lease); err != nil {
			t.Fatalf("lease: %s: %v", request, err)
		}
		user := request.User
		if lease.Spec.HolderIdentity == nil || *lease.Spec.HolderIdentity == "" {
			user = "" // given back
		}
		if len(found) == 0 || found[len(found)-1].user != user {
			found = append(found, reign{user, request.Answered})
		}
	}
	return found
}

// checkOneWriter fails the scenario if somebody wrote who did not hold the lease.
func checkOneWriter(t *testing.T, c *harness.ControlPlane, users ...string) {
	t.Helper()
	known := reigns(t, c)
	writes := c.Requests(t, func(r harness.Request) bool {
		switch r.Resource {
		case "pods/binding", "pods/status", "pods":
			return r.Verb == "create" || r.Verb == "patch" || r.Verb == "delete"
		}
		return false
	})
	count := map[string]int{}
	for _, write := range writes {
		for _, user := range users {
			if write.User != user {
				continue
			}
			count[user]++
			holder := ""
			for _, one := range known {
				if one.from.Before(write.Received) {
					holder = one.user
				}
			}
			if holder != user {
				t.Errorf("a write by %s while the lease was %q's: %s", user, holder, write)
			}
		}
	}
	t.Logf("reigns: %v; writes: %v", known, count)
}

func (m *candidate) leads(t *testing.T, c *harness.ControlPlane) error {
	t.Helper()
	known := reigns(t, c)
	if len(known) == 0 {
		return errors.New("nobody leads")
	}
	return wantEqual("leader", known[len(known)-1].user, m.name)
}

// Two schedulers, and the leader is killed, stopped for a while and resumed, and cut off: one writes at any time, the
// other takes over in time, no node gets too much.
func TestLeaderElection(t *testing.T) {
	for _, one := range []struct {
		name string
		lose func(*testing.T, *candidate)
		// after the other has taken over
		after func(*testing.T, *candidate)
	}{
		{
			name: "Killed",
			lose: func(_ *testing.T, leader *candidate) { leader.Kill() },
		},
		{
			name: "StoppedAndResumed",
			lose: func(_ *testing.T, leader *candidate) { leader.Signal(syscall.SIGSTOP) },
			after: func(t *testing.T, leader *candidate) {
				leader.Signal(syscall.SIGCONT)
				wantExit(t, leader.Process, 10*time.Second, 1)
			},
		},
		{
			name: "CutOff",
			lose: func(t *testing.T, leader *candidate) {
				leader.proxy.Refuse()
				wantExit(t, leader.Process, renewDeadline+retryPeriod+3*time.Second, 1)
			},
		},
		{
			name: "Silenced",
			lose: func(t *testing.T, leader *candidate) {
				leader.proxy.Stall()
				wantExit(t, leader.Process, renewDeadline+retryPeriod+3*time.Second, 1)
			},
		},
	} {
		t.Run(one.name, func(t *testing.T) {
			c := harness.StartControlPlane(t, harness.Options{})
			const nodes, perNode = 30, 20
			c.CreateNodes(t, nodes, fmt.Sprint(perNode), "64Gi") // exactly the room that is needed
			first := startCandidate(t, c, "first")
			harness.Eventually(t, 30*time.Second, "the first leads", func() error { return first.leads(t, c) })
			second := startCandidate(t, c, "second")
			harness.Eventually(t, 30*time.Second, "the second is there", func() error {
				requests := c.Requests(t, func(r harness.Request) bool { return r.User == "second" && r.Resource == "leases" })
				if len(requests) == 0 {
					return errors.New("it has not looked at the lease")
				}
				return nil
			})

			c.CreatePods(t, "pod", nodes*perNode, "1")
			harness.Eventually(t, 30*time.Second, "the first is in the middle of it", func() error {
				if bound := len(c.Bindings(t)); bound < nodes*perNode/6 {
					return fmt.Errorf("%d bindings", bound)
				}
				return nil
			})
			lost := time.Now()
			one.lose(t, first)
			harness.Eventually(t, takeoverMax, "the second leads", func() error { return second.leads(t, c) })
			known := reigns(t, c)
			t.Logf("taken over %.1f s after the leader was lost", known[len(known)-1].from.Sub(lost).Seconds())
			if after := known[len(known)-1].from.Sub(lost); after > takeoverMax {
				t.Errorf("taken over after %v", after)
			}
			if one.after != nil {
				one.after(t, first)
			}
			c.WaitBound(t, nodes*perNode, time.Minute)
			c.CheckBoundOnce(t, false)
			c.CheckNoOvercommit(t)
			checkOneWriter(t, c, "first", "second")
		})
	}
}

// A new leader looks at the newest state before it decides. However long that takes, it keeps its lease meanwhile.
func TestLeaderElectionLongTakeover(t *testing.T) {
	c := harness.StartControlPlane(t, harness.Options{})
	c.CreateNodes(t, 3, "8", "64Gi")
	proxy := c.StartHTTPProxy(t)
	delay := 2 * leaseDuration
	proxy.Answering(func(r *http.Request) harness.Answer {
		// The request that asks for the newest version.
		if r.URL.Path == "/api/v1/namespaces" && r.URL.Query().Get("limit") == "1" {
			return harness.Answer{Delay: delay}
		}
		return harness.Answer{}
	})
	c.CreatePod(t, harness.MakePod("pod", "1"))
	scheduler := c.StartScheduler(t, harness.SchedulerOptions{Kubeconfig: c.SchedulerTokenKubeconfig(t, proxy.Port), LeaderElection: election})
	scheduler.WaitReady(t)
	won := time.Now()
	harness.Throughout(t, delay-time.Second, "the lease is kept and nothing is decided", func() error {
		if node := c.Pod(t, "pod").Spec.NodeName; node != "" {
			return fmt.Errorf("bound to %s", node)
		}
		lease, err := c.Admin.CoordinationV1().Leases("kube-system").Get(context.Background(), "kube-scheduler", metav1.GetOptions{})
		if err != nil {
			if time.Since(won) < retryPeriod {
				return nil // not yet taken
			}
			return err
		}
		if age := time.Since(lease.Spec.RenewTime.Time); age > renewDeadline {
			return fmt.Errorf("not renewed for %v", age)
		}
		return nil
	})
	c.WaitPodBound(t, "pod", 10*time.Second)
}

// A leader that is asked to stop gives the lease back, and the other does not wait for its end.
func TestLeaderElectionReleasedOnStop(t *testing.T) {
	c := harness.StartControlPlane(t, harness.Options{})
	c.CreateNodes(t, 3, "8", "64Gi")
	first := startCandidate(t, c, "first")
	harness.Eventually(t, 30*time.Second, "the first leads", func() error { return first.leads(t, c) })
	second := startCandidate(t, c, "second")
	second.WaitReady(t)
	first.Signal(syscall.SIGTERM)
	stopped := time.Now()
	wantExit(t, first.Process, 5*time.Second, 0)
	lease, err := c.Admin.CoordinationV1().Leases("kube-system").Get(context.Background(), "kube-scheduler", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("holder after the end: %q", *lease.Spec.HolderIdentity)
	harness.Eventually(t, leaseDuration-time.Second, "the second leads", func() error { return second.leads(t, c) })
	t.Logf("taken over %.1f s after the signal", time.Since(stopped).Seconds())
	c.CreatePod(t, harness.MakePod("pod", "1"))
	c.WaitPodBound(t, "pod", 10*time.Second)
	checkOneWriter(t, c, "first", "second")

	// A standby leaves the lease alone when it ends.
	first.restart(t, c)
	first.WaitReady(t)
	first.Signal(syscall.SIGTERM)
	wantExit(t, first.Process, 5*time.Second, 0)
	if err := second.leads(t, c); err != nil {
		t.Error(err)
	}
}

func wantExit(t *testing.T, process *harness.Process, limit time.Duration, want int) {
	t.Helper()
	code, err := process.WaitEnd(limit)
	if err != nil {
		t.Error(err)
		return
	}
	if code != want {
		t.Errorf("%s ended with %d, want %d", process.Name, code, want)
	}
}

// A standby that delays its cache asks for the lease and nothing else, and is not ready. Once it leads it reads first,
// then binds. Whoever wins is written down in an event on the lease.
func TestLeaderElectionWithADelayedCache(t *testing.T) {
	c := harness.StartControlPlane(t, harness.Options{})
	c.CreateNodes(t, 2, "8", "16Gi")
	first := startCandidate(t, c, "first")
	first.WaitReady(t)
	harness.Eventually(t, 20*time.Second, "the first leads", func() error {
		return wantEqual("leader", first.Metric(t, "leader_election_master_status"), 1)
	})

	c.GiveSchedulerRights(t, rbacv1.Subject{Kind: "User", Name: "second"})
	second := c.StartScheduler(t, harness.SchedulerOptions{
		Name: "second", Kubeconfig: c.Kubeconfig(t, "second", c.Port, c.Authority.Client(t, "second")), LeaderElection: election,
		Configuration: "delayCacheUntilActive: true\n",
	})
	of := func(verbs ...string) []harness.Request {
		return c.Requests(t, func(r harness.Request) bool { return r.User == "second" && slices.Contains(verbs, r.Verb) })
	}
	harness.Eventually(t, 20*time.Second, "the second asks for the lease", func() error {
		if len(of("get")) < 3 {
			return errors.New("it has not asked often")
		}
		return nil
	})
	if read := of("list", "watch"); len(read) > 0 {
		t.Errorf("a standby with a delayed cache reads: %s", read[0])
	}
	if code, _, err := second.Get("/readyz"); err != nil || code != http.StatusInternalServerError {
		t.Errorf("readyz of the standby: %d %v", code, err)
	}
	if code, _, err := second.Get("/livez"); err != nil || code != http.StatusOK {
		t.Errorf("livez of the standby: %d %v", code, err)
	}

	c.CreatePods(t, "before", 5, "100m")
	c.WaitBound(t, 5, 20*time.Second)
	first.Kill()
	c.CreatePods(t, "after", 5, "100m")
	c.WaitBound(t, 10, takeoverMax+20*time.Second)
	if code, _, err := second.Get("/readyz"); err != nil || code != http.StatusOK {
		t.Errorf("readyz of the leader: %d %v", code, err)
	}
	checkOneWriter(t, c, "first", "second")
	events, err := c.Admin.CoreV1().Events("kube-system").List(context.Background(), metav1.ListOptions{FieldSelector: "involvedObject.kind=Lease"})
	if err != nil {
		t.Fatal(err)
	}
	won := 0
	for _, event := range events.Items {
		if event.Reason == "LeaderElection" && strings.HasSuffix(event.Message, " became leader") && event.InvolvedObject.UID != "" &&
			event.InvolvedObject.Name == "kube-scheduler" && event.Source.Component == "default-scheduler" {
			won++
		}
	}
	if won != 2 {
		t.Errorf("%d events tell of a new leader: %+v", won, events.Items)
	}
}
