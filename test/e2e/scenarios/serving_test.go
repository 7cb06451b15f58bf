package scenarios

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	v1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth/e2e/harness"
)

// ask is a request to berth's own port by somebody with a token, a certificate or neither, and with headers as NAME, VALUE.
func ask(t *testing.T, port int, path, token string, certificate *harness.Certificate, headers ...string) int {
	t.Helper()
	config := &tls.Config{InsecureSkipVerify: true}
	if certificate != nil {
		pair, err := tls.X509KeyPair(certificate.PEM, certificate.KeyPEM)
		if err != nil {
			t.Fatal(err)
		}
		// Shown even if nobody of those whom the server names has signed it.
		config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &pair, nil }
	}
	request, err := http.NewRequest(http.MethodGet, fmt.Sprintf("https://127.0.0.1:%d%s", port, path), nil)
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	for at := 0; at+1 < len(headers); at += 2 {
		request.Header.Add(headers[at], headers[at+1])
	}
	client := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{TLSClientConfig: config, DisableKeepAlives: true}}
	answer, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	_, _ = io.Copy(io.Discard, answer.Body)
	return answer.StatusCode
}

// The command line that kubeadm writes for kube-scheduler, and what the port of either tells to whom.
func TestServingAsksTheAPIServerWhoMaySee(t *testing.T) {
	t.Run("kube", func(t *testing.T) { whoMaySee(t, harness.Binary("kube-scheduler")) })
	t.Run("berth", func(t *testing.T) { whoMaySee(t, harness.BerthBinary(), "scheduler") })
}

func whoMaySee(t *testing.T, program string, arguments ...string) {
	c := harness.StartControlPlane(t, harness.Options{})
	c.CreateNodes(t, 2, "8", "16Gi")
	kubeconfig := c.SchedulerKubeconfig(t, c.Port)
	port := harness.FreePort(t)
	process := harness.StartProcess(t, c.Logs, "scheduler", program, append(arguments,
		"--authentication-kubeconfig="+kubeconfig, "--authorization-kubeconfig="+kubeconfig,
		"--bind-address=127.0.0.1", "--kubeconfig="+kubeconfig, "--leader-elect=true", fmt.Sprintf("--secure-port=%d", port)))
	scheduler := &harness.Scheduler{Process: process, Port: port}
	scheduler.WaitReady(t)

	ctx := context.Background()
	reader := rbacv1.Subject{Kind: "ServiceAccount", Namespace: "kube-system", Name: "prometheus"}
	for _, account := range []string{"prometheus", "stranger"} {
		if _, err := c.Admin.CoreV1().ServiceAccounts("kube-system").Create(ctx, &v1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: account}}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.Admin.RbacV1().ClusterRoles().Create(ctx, &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: "reads-metrics"},
		Rules:      []rbacv1.PolicyRule{{Verbs: []string{"get"}, NonResourceURLs: []string{"/metrics"}}},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Admin.RbacV1().ClusterRoleBindings().Create(ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "reads-metrics"}, Subjects: []rbacv1.Subject{reader},
		RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "reads-metrics"},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	secret, err := c.Admin.CoreV1().Secrets("kube-system").Create(ctx, &v1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "token"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	tokenOf := func(account string, bound bool) string {
		request := &authenticationv1.TokenRequest{}
		if bound {
			request.Spec.BoundObjectRef = &authenticationv1.BoundObjectReference{Kind: "Secret", APIVersion: "v1", Name: "token", UID: secret.UID}
		}
		token, err := c.Admin.CoreV1().ServiceAccounts("kube-system").CreateToken(ctx, account, request, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return token.Status.Token
	}
	good, other, expiring := tokenOf("prometheus", false), tokenOf("stranger", false), tokenOf("prometheus", true)
	admin := c.Authority.Client(t, "admin", "system:masters")
	nobody := c.Authority.Client(t, "nobody")
	stranger := harness.NewAuthority(t, "elsewhere").Client(t, "admin", "system:masters")
	proxy, otherProxy := c.FrontProxies.Client(t, "front-proxy"), c.FrontProxies.Client(t, "other-proxy")
	prometheus := []string{"X-Remote-User", "system:serviceaccount:kube-system:prometheus", "X-Remote-Group", "system:authenticated"}

	for _, one := range []struct {
		who, path, token string
		certificate      *harness.Certificate
		headers          []string
		want             int
	}{
		{"anonymous", "/healthz", "", nil, nil, 200},
		{"anonymous", "/livez", "", nil, nil, 200},
		{"anonymous", "/readyz", "", nil, nil, 200},
		{"anonymous", "/metrics", "", nil, nil, 403},
		{"anonymous", "/configz", "", nil, nil, 403},
		{"anonymous", "/healthz/ping", "", nil, nil, 403},
		{"a token with the right", "/metrics", good, nil, nil, 200},
		{"a token with the right", "/configz", good, nil, nil, 403},
		{"a token without it", "/metrics", other, nil, nil, 403},
		{"a token that is going to end", "/metrics", expiring, nil, nil, 200},
		{"a made-up token", "/metrics", "made-up", nil, nil, 401},
		{"a made-up token", "/healthz", "made-up", nil, nil, 401},
		{"an administrator's certificate", "/metrics", "", &admin, nil, 200},
		{"an administrator's certificate", "/configz", "", &admin, nil, 200},
		{"nobody's certificate", "/metrics", "", &nobody, nil, 403},
		{"a stranger's certificate", "/healthz", "", &stranger, nil, 401},
		{"a stranger's certificate", "/configz", "", &stranger, nil, 401},
		{"a user behind the front proxy", "/metrics", "", &proxy, prometheus, 200},
		{"a user behind the front proxy", "/configz", "", &proxy, prometheus, 403},
		{"a master behind the front proxy", "/configz", "", &proxy, []string{"X-Remote-User", "x", "X-Remote-Group", "system:masters"}, 200},
		{"the front proxy for nobody", "/metrics", "", &proxy, nil, 401},
		{"a proxy of another name", "/metrics", "", &otherProxy, prometheus, 401},
		{"a user who says to be a proxy", "/metrics", "", &nobody, prometheus, 403},
		{"anonymous who says to be a proxy", "/metrics", "", nil, prometheus, 403},
	} {
		if got := ask(t, port, one.path, one.token, one.certificate, one.headers...); got != one.want {
			t.Errorf("%s by %s: %d, want %d", one.path, one.who, got, one.want)
		}
	}

	// A token that has ended is worth nothing once both sides have forgotten what they knew about it.
	if err := c.Admin.CoreV1().Secrets("kube-system").Delete(ctx, "token", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	harness.Eventually(t, 40*time.Second, "the token that has ended is refused", func() error {
		return wantEqual("code", ask(t, port, "/metrics", expiring, nil), 401)
	})
	c.CreatePod(t, harness.MakePod("pod", "1"))
	c.WaitPodBound(t, "pod", 10*time.Second)
	checkNothingRefused(t, c)
}

// Probes tell what is going on: not ready without a server, alive all the same, and gone after the end.
func TestServingProbes(t *testing.T) {
	c := harness.StartControlPlane(t, harness.Options{})
	proxy := harness.StartProxy(t, c.Port)
	proxy.Refuse()
	scheduler := c.StartScheduler(t, harness.SchedulerOptions{Kubeconfig: c.SchedulerKubeconfig(t, proxy.Port), LeaderElection: election})
	codes := func() string {
		live, _, err := scheduler.Get("/livez")
		if err != nil {
			return err.Error()
		}
		ready, _, _ := scheduler.Get("/readyz")
		return fmt.Sprintf("livez %d, readyz %d", live, ready)
	}
	harness.Eventually(t, 10*time.Second, "alive and not ready", func() error { return wantEqual("probes", codes(), "livez 200, readyz 500") })
	proxy.Serve()
	harness.Eventually(t, 30*time.Second, "ready", func() error { return wantEqual("probes", codes(), "livez 200, readyz 200") })
	harness.Eventually(t, 10*time.Second, "it leads", func() error {
		return wantEqual("leader", scheduler.Metric(t, "leader_election_master_status"), 1)
	})
	proxy.Refuse()
	wantExit(t, scheduler.Process, renewDeadline+retryPeriod+3*time.Second, 1)
}

// Without a port nobody can ask, and pods are bound all the same.
func TestServingTurnedOff(t *testing.T) {
	c := harness.StartControlPlane(t, harness.Options{})
	c.CreateNodes(t, 1, "8", "16Gi")
	process := harness.StartProcess(t, c.Logs, "berth", harness.BerthBinary(), []string{"scheduler",
		"--kubeconfig=" + c.SchedulerKubeconfig(t, c.Port), "--leader-elect=false", "--secure-port=0"})
	c.CreatePod(t, harness.MakePod("pod", "1"))
	c.WaitPodBound(t, "pod", 20*time.Second)
	sockets, err := os.ReadFile(fmt.Sprintf("/proc/%d/net/tcp", process.Pid()))
	if err != nil {
		t.Fatal(err)
	}
	own, err := harness.SocketsOf(process.Pid())
	if err != nil {
		t.Fatal(err)
	}
	const listens = "0A"
	for _, line := range strings.Split(string(sockets), "\n")[1:] {
		if fields := strings.Fields(line); len(fields) > 9 && fields[3] == listens && own[fields[9]] {
			t.Errorf("it listens: %s", line)
		}
	}
}

// One kind that may not be read is enough not to be ready: nothing is decided with half of the picture.
func TestServingNotReadyWithoutARight(t *testing.T) {
	c := harness.StartControlPlane(t, harness.Options{})
	c.CreateNodes(t, 1, "8", "16Gi")
	ctx := context.Background()
	role, err := c.Admin.RbacV1().ClusterRoles().Get(ctx, "system:kube-scheduler", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var rules []rbacv1.PolicyRule
	for _, rule := range role.Rules {
		if !slices.Contains(rule.Resources, "poddisruptionbudgets") {
			rules = append(rules, rule)
		}
	}
	if len(rules) == len(role.Rules) {
		t.Fatal("the role does not speak of disruption budgets")
	}
	lesser := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "lesser-scheduler"}, Rules: rules}
	if _, err := c.Admin.RbacV1().ClusterRoles().Create(ctx, lesser, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{lesser.Name, "system:volume-scheduler"} {
		if _, err := c.Admin.RbacV1().ClusterRoleBindings().Create(ctx, &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{GenerateName: "lesser-"},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name},
			Subjects:   []rbacv1.Subject{{Kind: "User", APIGroup: rbacv1.GroupName, Name: "lesser"}},
		}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	scheduler := c.StartScheduler(t, harness.SchedulerOptions{Kubeconfig: c.Kubeconfig(t, "lesser", c.Port, c.Authority.Client(t, "lesser"))})
	refused := func() int {
		return len(c.Requests(t, func(r harness.Request) bool {
			return r.User == "lesser" && r.Resource == "poddisruptionbudgets" && r.Code == 403
		}))
	}
	harness.Eventually(t, 30*time.Second, "it is refused and tries again", func() error {
		if refused() < 3 {
			return fmt.Errorf("refused %d times", refused())
		}
		return nil
	})
	c.CreatePod(t, harness.MakePod("pod", "1"))
	code, body, err := scheduler.Get("/readyz")
	if err != nil || code != http.StatusInternalServerError || !strings.Contains(body, "[-]sched-handler-sync failed: reason withheld\n") {
		t.Errorf("readyz: %d %q %v", code, body, err)
	}
	if code, _, err := scheduler.Get("/livez"); err != nil || code != http.StatusOK {
		t.Errorf("livez: %d %v", code, err)
	}
	if bound := c.Bindings(t); len(bound) > 0 {
		t.Errorf("it binds: %v", bound)
	}
	// It needs no restart once it may.
	c.GiveSchedulerRights(t, rbacv1.Subject{Kind: "User", Name: "lesser"})
	c.WaitPodBound(t, "pod", 90*time.Second)
}

// A standby with a lease of another name than usual: it says so in its metrics, under the name of the program, and shows the
// resources of pods only once it leads. The lease of somebody who is gone is taken after the time that the lease itself names.
func TestServingAsStandby(t *testing.T) {
	c := harness.StartControlPlane(t, harness.Options{})
	c.CreateNodes(t, 1, "8", "16Gi")
	ctx := context.Background()
	holder, seconds, transitions := "somebody", int32(leaseDuration/time.Second), int32(4)
	old := metav1.NewMicroTime(time.Now().Add(-time.Hour))
	if _, err := c.Admin.CoordinationV1().Leases("kube-system").Create(ctx, &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Name: "mine"},
		Spec: coordinationv1.LeaseSpec{HolderIdentity: &holder, LeaseDurationSeconds: &seconds, LeaseTransitions: &transitions,
			AcquireTime: &old, RenewTime: &old},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	started := time.Now()
	scheduler := c.StartScheduler(t, harness.SchedulerOptions{LeaderElection: election + ", resourceName: mine",
		Flags: []string{"--authorization-always-allow-paths=/metrics/resources,/healthz"}})
	scheduler.WaitReady(t)
	leads := func(want string) error {
		_, text, err := scheduler.Get("/metrics")
		if err == nil && !strings.Contains(text, "leader_election_master_status{name=\"kube-scheduler\"} "+want+"\n") {
			err = fmt.Errorf("the status is not %s", want)
		}
		return err
	}
	if err := leads("0"); err != nil {
		t.Error(err)
	}
	if code, body, err := scheduler.Get("/metrics/resources"); err != nil || code != http.StatusOK || body != "" {
		t.Errorf("resources of a standby: %d %q %v", code, body, err)
	}
	if code, body, err := scheduler.Get("/healthz?verbose"); err != nil || code != http.StatusOK || body != "[+]leaderElection ok\nhealthz check passed\n" {
		t.Errorf("healthz of a standby: %d %q %v", code, body, err)
	}
	c.CreatePod(t, harness.MakePod("pod", "1"))
	harness.Eventually(t, takeoverMax, "it leads", func() error { return leads("1") })
	if after := time.Since(started); after < leaseDuration {
		t.Errorf("the lease was taken after %v", after)
	}
	c.WaitPodBound(t, "pod", 10*time.Second)
	harness.Eventually(t, 10*time.Second, "resources are shown", func() error {
		_, body, err := scheduler.Get("/metrics/resources")
		if err == nil && !strings.Contains(body, "kube_pod_resource_request{") {
			err = fmt.Errorf("resources: %q", body)
		}
		return err
	})
	lease, err := c.Admin.CoordinationV1().Leases("kube-system").Get(ctx, "mine", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if *lease.Spec.LeaseTransitions != transitions+1 || *lease.Spec.HolderIdentity == holder {
		t.Errorf("the lease: %v", lease.Spec)
	}
}

// How a scheduler ends says whether somebody wanted it to: without an election an end is a failure, in either program.
func TestServingExitCodes(t *testing.T) {
	c := harness.StartControlPlane(t, harness.Options{})
	kubeconfig := c.SchedulerKubeconfig(t, c.Port)
	for _, one := range []struct {
		name, program string
		arguments     []string
	}{{"kube", harness.Binary("kube-scheduler"), nil}, {"berth", harness.BerthBinary(), []string{"scheduler"}}} {
		t.Run(one.name, func(t *testing.T) {
			port := harness.FreePort(t)
			process := harness.StartProcess(t, c.Logs, one.name, one.program, append(one.arguments, "--kubeconfig="+kubeconfig,
				"--leader-elect=false", "--bind-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", port)))
			(&harness.Scheduler{Process: process, Port: port}).WaitReady(t)
			process.Signal(syscall.SIGTERM)
			wantExit(t, process, 10*time.Second, 1)
			if !strings.Contains(process.Log(), `"command failed" err="finished without leader elect"`) {
				t.Error("it does not say why")
			}
		})
	}
	// A server that does not answer keeps a leader from giving its lease back. Who asks again does not want to wait.
	t.Run("again", func(t *testing.T) {
		proxy := harness.StartProxy(t, c.Port)
		scheduler := c.StartScheduler(t, harness.SchedulerOptions{Kubeconfig: c.SchedulerKubeconfig(t, proxy.Port), LeaderElection: election})
		scheduler.WaitReady(t)
		harness.Eventually(t, 20*time.Second, "it leads", func() error {
			return wantEqual("leader", scheduler.Metric(t, "leader_election_master_status"), 1)
		})
		proxy.Stall()
		scheduler.Signal(syscall.SIGTERM)
		harness.Eventually(t, 2*time.Second, "it is about to end", func() error {
			if strings.Contains(scheduler.Log(), "Requested to terminate, exiting") {
				return nil
			}
			return fmt.Errorf("it has not heard")
		})
		if scheduler.Ended() {
			t.Fatal("it ended although the server does not answer")
		}
		scheduler.Signal(syscall.SIGTERM)
		wantExit(t, scheduler.Process, time.Second, 1)
	})
}
