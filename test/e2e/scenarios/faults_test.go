package scenarios

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	v1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"berth/e2e/harness"
)

// What no fault may push berth to: more memory than it had, or work while there is nothing to do.
const (
	growthMaxMiB         = 40
	requestsPerSecondMax = 30
	idleCPUShareMax      = 0.15
)

// watcher compares a scheduler before and after a fault.
type watcher struct {
	scheduler *harness.Scheduler
	resident  int
}

func watchMemory(t *testing.T, scheduler *harness.Scheduler) watcher {
	t.Helper()
	resident, err := scheduler.Resident()
	if err != nil {
		t.Fatal(err)
	}
	return watcher{scheduler, resident}
}

func (w watcher) checkFlat(t *testing.T) {
	t.Helper()
	resident, err := w.scheduler.Resident()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("memory: %d MiB before, %d MiB after", w.resident, resident)
	if resident > w.resident+growthMaxMiB {
		t.Errorf("memory grew from %d to %d MiB", w.resident, resident)
	}
}

// idleFor waits and fails the scenario if the scheduler was busy meanwhile.
func idleFor(t *testing.T, scheduler *harness.Scheduler, during time.Duration) {
	t.Helper()
	before, err := scheduler.CPU()
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(during)
	after, err := scheduler.CPU()
	if err != nil {
		t.Fatal(err)
	}
	share := (after - before).Seconds() / during.Seconds()
	t.Logf("processor time with nothing to do: %.1f %%", 100*share)
	if share > idleCPUShareMax {
		t.Errorf("a busy loop: %.0f %% of a processor", 100*share)
	}
}

// checkQuiet fails the scenario if the scheduler asks more than a quiet one would, from a moment on. What became of a
// binding whose answer was lost it has to ask, pod by pod, and once more where that answer was lost, too.
func checkQuiet(t *testing.T, c *harness.ControlPlane, since time.Time) {
	t.Helper()
	askedAbout := map[string]int{}
	requests := c.Requests(t, func(r harness.Request) bool {
		if r.User != harness.SchedulerUser || !r.Received.After(since) || r.Verb == "create" || r.Verb == "patch" {
			return false
		}
		if r.Verb == "get" && r.Resource == "pods" {
			askedAbout[r.Namespace+"/"+r.Name]++
			return false
		}
		return true
	})
	for pod, times := range askedAbout {
		if times > 2 {
			t.Errorf("asked %d times what became of %s", times, pod)
		}
	}
	busiest := harness.BusiestSecond(requests)
	t.Logf("requests that are no writes: %d, at most %d in one second; %d pods asked about", len(requests), busiest, len(askedAbout))
	// A relist of every kind at once is no busy loop: each kind once.
	if busiest > 2*requestsPerSecondMax {
		t.Errorf("%d requests in one second", busiest)
	}
}

// The API server is killed in the middle of the work, and again stopped in a friendly way.
func TestFaultServerKilled(t *testing.T) {
	c := harness.StartControlPlane(t, harness.Options{})
	c.CreateNodes(t, 20, "32", "64Gi")
	// So slow that the end of the server falls between bindings.
	scheduler := c.StartScheduler(t, harness.SchedulerOptions{QPS: 50})
	scheduler.WaitReady(t)
	c.CreatePods(t, "first", 100, "100m")
	c.WaitBound(t, 100, time.Minute)
	memory := watchMemory(t, scheduler)

	count := 100
	for round, with := range []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM, syscall.SIGKILL} {
		c.CreatePods(t, fmt.Sprintf("round-%d", round), 150, "100m")
		count += 150
		c.StopAPIServer(t, with)
		idleFor(t, scheduler, 8*time.Second)
		back := time.Now()
		c.StartAPIServer(t)
		c.WaitBound(t, count, 90*time.Second)
		t.Logf("all bound %.1f s after the server started again", time.Since(back).Seconds())
		checkQuiet(t, c, back)
	}
	c.CheckBoundOnce(t, true)
	c.CheckNoOvercommit(t)
	memory.checkFlat(t)
}

// While the scheduler is cut off, pods and nodes come and go and etcd forgets the history: the watch cannot go on, and
// the new list must show the deletions too.
func TestFaultCompaction(t *testing.T) {
	c := harness.StartControlPlane(t, harness.Options{})
	c.CreateNodes(t, 10, "2", "64Gi")
	proxy := harness.StartProxy(t, c.Port)
	scheduler := c.StartScheduler(t, harness.SchedulerOptions{Kubeconfig: c.SchedulerKubeconfig(t, proxy.Port)})
	scheduler.WaitReady(t)
	c.CreatePods(t, "full", 20, "1") // no room is left
	c.WaitBound(t, 20, time.Minute)
	c.CreatePods(t, "gone", 3, "1")
	memory := watchMemory(t, scheduler)

	for round := range 3 {
		proxy.Refuse()
		// Room appears only by deletions that happen now; pods that wait disappear and others come.
		for i := range 5 {
			c.DeletePod(t, fmt.Sprintf("full-%d", 5*round+i))
		}
		if round == 0 {
			c.InParallel(t, 3, func(i int) error {
				c.DeletePod(t, fmt.Sprintf("gone-%d", i))
				return nil
			})
		}
		if err := c.Admin.CoreV1().Nodes().Delete(context.Background(), fmt.Sprintf("node-%d", 9-round), metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Admin.CoreV1().Nodes().Create(context.Background(), harness.MakeNode(fmt.Sprintf("new-%d", round), "2", "64Gi"), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		c.Compact(t)
		c.StopAPIServer(t, syscall.SIGTERM) // its cache remembers what etcd forgot
		c.StartAPIServer(t)
		c.CreatePods(t, fmt.Sprintf("new-%d", round), 3, "1")
		back := time.Now()
		proxy.Serve()
		harness.Eventually(t, 90*time.Second, "the new pods are bound", func() error {
			for i := range 3 {
				if pod := c.Pod(t, fmt.Sprintf("new-%d-%d", round, i)); pod.Spec.NodeName == "" {
					return fmt.Errorf("%s waits: %v", pod.Name, pod.Status.Conditions)
				}
			}
			return nil
		})
		relists := c.Requests(t, func(r harness.Request) bool {
			return r.User == harness.SchedulerUser && r.Received.After(back) && r.Resource == "pods" &&
				(r.Verb == "list" || strings.Contains(r.URI, "sendInitialEvents=true"))
		})
		if len(relists) == 0 {
			t.Error("pods were not listed anew: the history was not lost, or the scheduler did not see it")
		}
		checkQuiet(t, c, back)
	}
	c.CheckBoundOnce(t, false)
	// Pods of the deleted nodes are still there, but no node has too many.
	c.CheckNoOvercommit(t)
	memory.checkFlat(t)
}

// Connections break in the middle of whatever is on its way: heads, frames, TLS records.
func TestFaultCutInAFrame(t *testing.T) {
	c := harness.StartControlPlane(t, harness.Options{})
	c.CreateNodes(t, 20, "32", "64Gi")
	proxy := harness.StartProxy(t, c.Port)
	scheduler := c.StartScheduler(t, harness.SchedulerOptions{Kubeconfig: c.SchedulerKubeconfig(t, proxy.Port), QPS: 100})
	scheduler.WaitReady(t)
	c.CreatePods(t, "first", 100, "100m")
	c.WaitBound(t, 100, time.Minute)
	memory := watchMemory(t, scheduler)

	const seed = 7
	random := rand.New(rand.NewPCG(seed, seed))
	count := 100
	for round := range 20 {
		c.CreatePods(t, fmt.Sprintf("round-%d", round), 20, "100m")
		count += 20
		proxy.CutAfter(random.Int64N(4000))
		time.Sleep(time.Duration(random.Int64N(int64(500 * time.Millisecond))))
		proxy.CutAfter(-1)
	}
	healed := time.Now()
	c.WaitBound(t, count, 2*time.Minute)
	c.CheckBoundOnce(t, false)
	c.CheckNoOvercommit(t)
	checkQuiet(t, c, healed.Add(5*time.Second))
	memory.checkFlat(t)
}

// Connections that look alive and deliver nothing, as behind a firewall that forgot them.
func TestFaultSilentWatch(t *testing.T) {
	c := harness.StartControlPlane(t, harness.Options{})
	c.CreateNodes(t, 10, "32", "64Gi")
	proxy := harness.StartProxy(t, c.Port)
	scheduler := c.StartScheduler(t, harness.SchedulerOptions{Kubeconfig: c.SchedulerKubeconfig(t, proxy.Port)})
	scheduler.WaitReady(t)
	c.CreatePods(t, "first", 50, "100m")
	c.WaitBound(t, 50, time.Minute)
	memory := watchMemory(t, scheduler)

	proxy.StallConnections()
	stalled := time.Now()
	c.CreatePods(t, "unseen", 50, "100m")
	c.WaitBound(t, 100, 100*time.Second)
	t.Logf("all bound %.0f s after the connections fell silent", time.Since(stalled).Seconds())
	c.CheckBoundOnce(t, false)
	checkQuiet(t, c, stalled)
	idleFor(t, scheduler, 10*time.Second)
	memory.checkFlat(t)
}

// The token expires and another one is in its file.
func TestFaultTokenRotated(t *testing.T) {
	c := harness.StartControlPlane(t, harness.Options{})
	c.CreateNodes(t, 10, "32", "64Gi")
	account := "system:serviceaccount:kube-system:berth"
	c.GiveSchedulerRights(t, rbacv1.Subject{Kind: "ServiceAccount", Namespace: "kube-system", Name: "berth"})
	ctx := context.Background()
	if _, err := c.Admin.CoreV1().ServiceAccounts("kube-system").Create(ctx, &v1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "berth"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	// A token is worth something as long as the secret that it is bound to is there.
	newToken := func(secret string) string {
		created, err := c.Admin.CoreV1().Secrets("kube-system").Create(ctx, &v1.Secret{ObjectMeta: metav1.ObjectMeta{Name: secret}}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		token, err := c.Admin.CoreV1().ServiceAccounts("kube-system").CreateToken(ctx, "berth", &authenticationv1.TokenRequest{
			Spec: authenticationv1.TokenRequestSpec{BoundObjectRef: &authenticationv1.BoundObjectReference{
				Kind: "Secret", APIVersion: "v1", Name: secret, UID: created.UID,
			}},
		}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return token.Status.Token
	}
	file := c.Logs + "/token"
	first := newToken("first")
	harness.WriteFile(t, file, []byte(first))
	proxy := harness.StartProxy(t, c.Port)
	scheduler := c.StartScheduler(t, harness.SchedulerOptions{Kubeconfig: c.TokenKubeconfig(t, "account", proxy.Port, file)})
	scheduler.WaitReady(t)
	c.CreatePods(t, "first", 50, "100m")
	c.WaitBound(t, 50, time.Minute)
	memory := watchMemory(t, scheduler)

	harness.WriteFile(t, file, []byte(newToken("second")))
	if err := c.Admin.CoreV1().Secrets("kube-system").Delete(ctx, "first", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	rotated := time.Now()
	withFirst := rest.AnonymousClientConfig(c.AdminConfig)
	withFirst.BearerToken = first
	old := kubernetes.NewForConfigOrDie(withFirst)
	harness.Eventually(t, time.Minute, "the server does not take the old token any more", func() error {
		if _, err := old.CoreV1().Nodes().List(ctx, metav1.ListOptions{}); !apierrors.IsUnauthorized(err) {
			return fmt.Errorf("it says: %v", err)
		}
		return nil
	})
	proxy.Cut() // the watches, too, have to come with the new token
	c.CreatePods(t, "second", 50, "100m")
	c.WaitBound(t, 100, 2*time.Minute)
	t.Logf("all bound %.0f s after the token was rotated", time.Since(rotated).Seconds())
	c.CheckBoundOnce(t, false)
	requests := c.Requests(t, func(r harness.Request) bool { return r.Received.After(rotated) && (r.User == account || r.Code == 401) })
	if busiest := harness.BusiestSecond(requests); busiest > 200 {
		t.Errorf("%d requests in one second", busiest)
	}
	if refused := c.Requests(t, func(r harness.Request) bool { return r.User == account && r.Code == 403 }); len(refused) > 0 {
		t.Errorf("refused: %v", refused)
	}
	memory.checkFlat(t)
}

// The server changes its certificate: to one of another authority that is trusted, to one that is not, and back.
func TestFaultServingCertificateChanged(t *testing.T) {
	c := harness.StartControlPlane(t, harness.Options{})
	c.CreateNodes(t, 10, "32", "64Gi")
	other := harness.NewAuthority(t, "other")
	harness.WriteFile(t, c.CAFile(), append(append([]byte{}, c.Authority.PEM...), other.PEM...))
	proxy := harness.StartProxy(t, c.Port)
	scheduler := c.StartScheduler(t, harness.SchedulerOptions{Kubeconfig: c.SchedulerKubeconfig(t, proxy.Port)})
	scheduler.WaitReady(t)
	c.CreatePods(t, "first", 30, "100m")
	c.WaitBound(t, 30, time.Minute)
	memory := watchMemory(t, scheduler)

	serve := func(authority *harness.Authority) {
		authority.Server(t).WriteFiles(t, c.ServingCertificate())
		c.WaitServedBy(t, authority)
		proxy.Cut()
	}
	serve(other)
	c.CreatePods(t, "second", 30, "100m")
	c.WaitBound(t, 60, time.Minute)

	// Nothing is said to a stranger.
	serve(harness.NewAuthority(t, "stranger"))
	strange := time.Now()
	idleFor(t, scheduler, 10*time.Second)
	if asked := c.Requests(t, func(r harness.Request) bool { return r.User == harness.SchedulerUser && r.Received.After(strange) }); len(asked) > 0 {
		t.Errorf("it talked to a server that it cannot trust: %v", asked)
	}
	if connections := proxy.Accepted(strange); connections > 10*requestsPerSecondMax {
		t.Errorf("%d connections in ten seconds", connections)
	}
	serve(c.Authority)
	c.CreatePods(t, "third", 30, "100m")
	c.WaitBound(t, 90, 2*time.Minute)
	c.CheckBoundOnce(t, false)
	memory.checkFlat(t)
}

// The server is overloaded or broken for a while, for a part of the requests, and sometimes does what was asked
// without being able to say so.
func TestFaultStorms(t *testing.T) {
	c := harness.StartControlPlane(t, harness.Options{})
	c.CreateNodes(t, 20, "32", "64Gi")
	proxy := c.StartHTTPProxy(t)
	scheduler := c.StartScheduler(t, harness.SchedulerOptions{Kubeconfig: c.SchedulerTokenKubeconfig(t, proxy.Port), QPS: 200})
	scheduler.WaitReady(t)
	c.CreatePods(t, "first", 100, "100m")
	c.WaitBound(t, 100, time.Minute)
	memory := watchMemory(t, scheduler)

	storms := []struct {
		name   string
		answer func(*http.Request, int64) harness.Answer
	}{
		{"429 for all, with a time to wait", func(*http.Request, int64) harness.Answer { return harness.Answer{Code: 429, RetryAfter: 1} }},
		{"429 for half, without", func(_ *http.Request, n int64) harness.Answer {
			if n%2 == 0 {
				return harness.Answer{Code: 429}
			}
			return harness.Answer{}
		}},
		{"500 for all", func(*http.Request, int64) harness.Answer { return harness.Answer{Code: 500} }},
		{"503 for two of three", func(_ *http.Request, n int64) harness.Answer {
			if n%3 != 0 {
				return harness.Answer{Code: 503}
			}
			return harness.Answer{}
		}},
		{"bound, but nobody says so", func(r *http.Request, n int64) harness.Answer {
			return harness.Answer{Drop: n%2 == 0 && strings.HasSuffix(r.URL.Path, "/binding")}
		}},
	}
	count := 100
	for round, storm := range storms {
		var number atomic.Int64
		proxy.Answering(func(r *http.Request) harness.Answer { return storm.answer(r, number.Add(1)) })
		start := time.Now()
		c.CreatePods(t, fmt.Sprintf("storm-%d", round), 60, "100m")
		count += 60
		time.Sleep(10 * time.Second)
		requests := len(proxy.Requests(start))
		proxy.Answering(nil)
		over := time.Now()
		t.Logf("%s: %d requests in ten seconds", storm.name, requests)
		if requests > 2500 {
			t.Errorf("%s: %d requests in ten seconds", storm.name, requests)
		}
		c.WaitBound(t, count, 90*time.Second)
		t.Logf("%s: all bound %.1f s after it", storm.name, time.Since(over).Seconds())
	}
	c.CheckBoundOnce(t, false)
	c.CheckNoOvercommit(t)
	idleFor(t, scheduler, 5*time.Second)
	memory.checkFlat(t)
}

// The clock of the scheduler's machine is set forward and back: leases are measured, not read from clocks.
func TestFaultClockJumps(t *testing.T) {
	c := harness.StartControlPlane(t, harness.Options{})
	c.CreateNodes(t, 10, "32", "64Gi")
	clock := harness.NewClock(t)
	scheduler := c.StartScheduler(t, harness.SchedulerOptions{LeaderElection: election, Environment: clock.Environment()})
	scheduler.WaitReady(t)
	c.CreatePods(t, "first", 50, "100m")
	c.WaitBound(t, 50, time.Minute)
	memory := watchMemory(t, scheduler)

	count := 50
	for round, offset := range []time.Duration{6 * time.Hour, -30 * time.Minute, 10 * time.Minute, 0} {
		clock.Set(t, offset)
		c.CreatePods(t, fmt.Sprintf("round-%d", round), 50, "100m")
		count += 50
		c.WaitBound(t, count, 20*time.Second)
		harness.Eventually(t, 10*time.Second, "the lease is renewed with the new time", func() error {
			lease, err := c.Admin.CoordinationV1().Leases("kube-system").Get(context.Background(), "kube-scheduler", metav1.GetOptions{})
			if err != nil {
				return err
			}
			if off := time.Until(lease.Spec.RenewTime.Time) - offset; off.Abs() > leaseDuration {
				return fmt.Errorf("renewed at %v", lease.Spec.RenewTime)
			}
			return wantEqual("transitions", *lease.Spec.LeaseTransitions, 0)
		})
		// A pod that does not fit is tried again in its time, not hours later.
		name := fmt.Sprintf("big-%d", round)
		c.CreatePod(t, harness.MakePod(name, "60"))
		harness.Eventually(t, 10*time.Second, "a pod does not fit", func() error {
			if condition := harness.Condition(c.Pod(t, name), v1.PodScheduled); condition == nil || condition.Reason != v1.PodReasonUnschedulable {
				return fmt.Errorf("condition: %v", condition)
			}
			return nil
		})
		clock.Set(t, offset-time.Minute)
		if _, err := c.Admin.CoreV1().Nodes().Create(context.Background(), harness.MakeNode(fmt.Sprintf("big-%d", round), "64", "64Gi"), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		c.WaitPodBound(t, name, 15*time.Second)
		count++
	}
	if scheduler.Ended() {
		t.Error("it ended")
	}
	c.CheckBoundOnce(t, false)
	c.CheckNoOvercommit(t)
	memory.checkFlat(t)
}

// A server that is not there, or not what it should be, is named with its address or file and why.
func TestFaultNamedAtStart(t *testing.T) {
	c := harness.StartControlPlane(t, harness.Options{})
	stranger := harness.NewAuthority(t, "stranger")
	tokenFile := c.Logs + "/wrong-token"
	harness.WriteFile(t, tokenFile, []byte("wrong"))
	for _, one := range []struct {
		name, kubeconfig, says string
	}{
		{"unreachable", c.SchedulerKubeconfig(t, 1), "127.0.0.1:1"},
		{"wrong token", c.TokenKubeconfig(t, "wrong", c.Port, tokenFile), "401"},
		{"unknown client", c.Kubeconfig(t, "stranger", c.Port, stranger.Client(t, harness.SchedulerUser)), "401"},
	} {
		t.Run(one.name, func(t *testing.T) {
			scheduler := c.StartScheduler(t, harness.SchedulerOptions{Name: strings.ReplaceAll(one.name, " ", "-"), Kubeconfig: one.kubeconfig})
			harness.Eventually(t, 10*time.Second, "the log says what is wrong", func() error {
				if scheduler.Ended() {
					return harness.Hopeless("it ended; kube-scheduler goes on trying")
				}
				if log := scheduler.Log(); !strings.Contains(log, one.says) || !strings.Contains(log, fmt.Sprint(c.Port)) && one.name != "unreachable" {
					return errors.New(log)
				}
				return nil
			})
			// It names the server before its own port is open.
			harness.Eventually(t, 10*time.Second, "it is alive", func() error {
				code, body, err := scheduler.Get("/livez")
				if err == nil && code != http.StatusOK {
					err = fmt.Errorf("livez: %d %s", code, body)
				}
				return err
			})
			if code, _, err := scheduler.Get("/readyz"); err != nil || code == http.StatusOK {
				t.Errorf("readyz: %d %v", code, err)
			}
			idleFor(t, scheduler, 5*time.Second)
			scheduler.Kill()
		})
	}
}
