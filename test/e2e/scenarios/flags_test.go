package scenarios

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	v1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth/e2e/harness"
)

// run starts one of the two schedulers and waits for its end.
func run(t *testing.T, program string, arguments ...string) (code int, out, errors string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if program == harness.BerthBinary() {
		arguments = append([]string{"scheduler"}, arguments...)
	}
	command := exec.CommandContext(ctx, program, arguments...)
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	_ = command.Run()
	if ctx.Err() != nil {
		t.Fatalf("%s %v does not end", filepath.Base(program), arguments)
	}
	return command.ProcessState.ExitCode(), stdout.String(), stderr.String()
}

var flagLine = regexp.MustCompile(`^\s+(?:-(\w), )?--([a-z0-9-]+)(?: (\S+))?`)

// helpFlags are the flags of a help text, with the type that each is shown with.
func helpFlags(text string) map[string]string {
	flags := map[string]string{}
	for _, line := range strings.Split(text, "\n") {
		if match := flagLine.FindStringSubmatch(line); match != nil {
			flags[match[2]] = match[3]
		}
	}
	return flags
}

func TestFlagsOfHelp(t *testing.T) {
	_, real, _ := run(t, harness.Binary("kube-scheduler"), "--help")
	code, ours, _ := run(t, harness.BerthBinary(), "--help")
	if code != 0 {
		t.Errorf("--help ends with %d", code)
	}
	want, have := helpFlags(real), helpFlags(ours)
	if len(want) < 60 {
		t.Fatalf("only %d flags in the help of kube-scheduler", len(want))
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if _, found := have[name]; !found {
			t.Errorf("--%s is missing", name)
		}
	}
	for name := range have {
		if _, found := want[name]; !found && name != "tracing-config-file" {
			t.Errorf("--%s is not kube-scheduler's", name)
		}
	}
}

var failedLine = regexp.MustCompile(`"command failed" err="((?:[^"\\]|\\.)*)"`)

// complaint is what a scheduler that does not start says: the last line with Error: in front, or the error in its log.
func complaint(text string) string {
	if match := failedLine.FindStringSubmatch(text); match != nil {
		return match[1]
	}
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}

// Wrong values end both with the same code and the same words. Left out, because they differ: files that are no YAML,
// where each program has the words of its library, and election times that do not fit together, which kube-scheduler
// only finds once it has seen the cluster.
func TestFlagsWrongValues(t *testing.T) {
	folder := t.TempDir()
	nowhere := filepath.Join(folder, "nowhere")
	unwritten := filepath.Join(folder, "unwritten.yaml")
	unknown := filepath.Join(folder, "unknown.yaml")
	harness.WriteFile(t, unknown, []byte("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nfoo: bar\nparallelism: 0\n"))
	wrong := filepath.Join(folder, "wrong.yaml")
	harness.WriteFile(t, wrong, []byte("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nparallelism: 0\npodInitialBackoffSeconds: 0\n"))
	authority := harness.NewAuthority(t, "mismatch")
	one, two := authority.Server(t), authority.Server(t)
	one.WriteFiles(t, filepath.Join(folder, "one"))
	two.WriteFiles(t, filepath.Join(folder, "two"))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	taken := listener.Addr().(*net.TCPAddr).Port
	kubeconfig := filepath.Join(folder, "kubeconfig")
	harness.WriteFile(t, kubeconfig, []byte("apiVersion: v1\nkind: Config\nclusters: [{name: c, cluster: {server: 'http://127.0.0.1:1'}}]\ncontexts: [{name: x, context: {cluster: c}}]\ncurrent-context: x\n"))

	for _, arguments := range [][]string{
		{"--nonsense"},
		{"--port=0"},
		{"-x"},
		{"argument"},
		{"--secure-port"},
		{"--secure-port=x"},
		{"--secure-port=70000"},
		{"--secure-port=-1"},
		{"--bind-address=nobody"},
		{"--leader-elect=maybe"},
		{"--leader-elect-lease-duration=5"},
		{"--leader-elect-lease-duration=5parsecs"},
		{"--kube-api-qps=x"},
		{"--kube-api-burst=1.5"},
		{"--v=x"},
		{"--vmodule=x"},
		{"--logging-format=xml"},
		{"--logging-format=json", "--vmodule=a=1"},
		{"--log-flush-frequency=0"},
		{"--log-json-split-stream"},
		{"--log-json-info-buffer-size=x"},
		{"--tls-min-version=VersionTLS9"},
		{"--tls-cipher-suites=ROT13"},
		{"--tls-curve-preferences=x"},
		{"--http2-max-streams-per-connection=x"},
		{"--requestheader-username-headers="},
		{"--requestheader-username-headers= "},
		{"--requestheader-uid-headers=x"},
		{"--feature-gates=Nonsense=true"},
		{"--feature-gates=DynamicResourceAllocation=false"},
		{"--feature-gates=X"},
		{"--feature-gates=AllAlpha=maybe"},
		{"--feature-gates=TopologyAwareWorkloadScheduling=true"},
		{"--emulated-version=1.28"},
		{"--emulated-version=kube=1.36.1"},
		{"--min-compatibility-version=1.33"},
		{"--show-hidden-metrics-for-version=1.30"},
		{"--show-hidden-metrics-for-version=x"},
		{"--allow-metric-labels=x"},
		{"--authentication-token-webhook-cache-ttl=x"},
		{"--config=" + nowhere},
		{"--config=" + unknown},
		{"--config=" + wrong},
		{"--kubeconfig=" + nowhere},
		{"--kubeconfig=" + kubeconfig, "--authentication-kubeconfig=" + nowhere},
		{"--kubeconfig=" + kubeconfig, "--bind-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", taken)},
		{"--kubeconfig=" + kubeconfig, "--bind-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", taken), "--write-config-to=" + unwritten},
		{"--kubeconfig=" + kubeconfig, "--kube-api-burst=0"},
		{"--kubeconfig=" + kubeconfig, "--secure-port=0", "--leader-elect-resource-lock=endpoints"},
		{"--kubeconfig=" + kubeconfig, "--secure-port=0", "--leader-elect-resource-lock=x"},
		{"--kubeconfig=" + kubeconfig, "--tls-cert-file=" + filepath.Join(folder, "one.crt"), "--tls-private-key-file=" + filepath.Join(folder, "two.key")},
		{"--kubeconfig=" + kubeconfig, "--tls-cert-file=" + nowhere, "--tls-private-key-file=" + nowhere},
		{"--kubeconfig=" + kubeconfig, "--client-ca-file=" + nowhere},
		{"--kubeconfig=" + kubeconfig, "--client-ca-file=" + filepath.Join(folder, "two.key")},
		{"--kubeconfig=" + kubeconfig, "--requestheader-client-ca-file=" + nowhere},
		{"--kubeconfig=" + kubeconfig, "--requestheader-client-ca-file=" + filepath.Join(folder, "two.key")},
		{"--kubeconfig=" + kubeconfig, "--tls-sni-cert-key=" + nowhere + "," + nowhere},
		{"--kubeconfig=" + kubeconfig, "--tls-sni-cert-key=" + filepath.Join(folder, "one.crt") + "," + filepath.Join(folder, "two.key")},
		{"--tls-sni-cert-key=x"},
		{"--tls-sni-cert-key=a,b:"},
		{"--tls-sni-cert-key=a,b,c:d"},
		{"--version=x"},
		{},
	} {
		t.Run(strings.ReplaceAll(strings.Join(arguments, " "), folder, ""), func(t *testing.T) {
			realCode, _, realErrors := run(t, harness.Binary("kube-scheduler"), arguments...)
			code, _, errors := run(t, harness.BerthBinary(), arguments...)
			if realCode == 0 {
				t.Fatalf("kube-scheduler accepts it")
			}
			if code != realCode {
				t.Errorf("exit code %d, want %d", code, realCode)
			}
			if have, want := complaint(errors), complaint(realErrors); have != want {
				t.Errorf("complaint\n  %s\nwant\n  %s", have, want)
			}
		})
	}
	if _, err := os.Stat(unwritten); err == nil {
		t.Error("a configuration was written although the port is taken")
	}
}

// Both write the same file for the same configuration, and read it back as the same.
func TestFlagsWriteConfiguration(t *testing.T) {
	folder := t.TempDir()
	kubeconfig := filepath.Join(folder, "kubeconfig")
	harness.WriteFile(t, kubeconfig, []byte("apiVersion: v1\nkind: Config\nclusters: [{name: c, cluster: {server: 'http://127.0.0.1:1'}}]\ncontexts: [{name: x, context: {cluster: c}}]\ncurrent-context: x\n"))
	for name, body := range map[string]string{
		"plain": "",
		"numbers": "parallelism: 3\npercentageOfNodesToScore: 40\npodInitialBackoffSeconds: 2\npodMaxBackoffSeconds: 20\n" +
			"enableProfiling: false\ndelayCacheUntilActive: true\nleaderElection: {leaseDuration: 1m30s, resourceName: mine}\n",
		"profiles": "profiles:\n- schedulerName: a\n  percentageOfNodesToScore: 0\n  plugins:\n    score:\n      disabled: [{name: ImageLocality}]\n" +
			"      enabled: [{name: NodeResourcesFit, weight: 5}]\n    multiPoint:\n      disabled: [{name: VolumeZone}]\n" +
			"  pluginConfig:\n  - name: NodeResourcesFit\n    args: {scoringStrategy: {type: MostAllocated, resources: [{name: cpu, weight: 3}]}}\n" +
			"  - name: NodeAffinity\n    args: {addedAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: Exists}]}]}}}\n" +
			"  - name: Unheard\n    args: {b: [1, x]}\n- schedulerName: b\n",
		"extenders": "extenders:\n- urlPrefix: http://127.0.0.1:1/x\n  filterVerb: filter\n  prioritizeVerb: rate\n  weight: 2\n  ignorable: true\n" +
			"  managedResources: [{name: example.com/foo, ignoredByScheduler: true}]\n- urlPrefix: https://127.0.0.1:1/y\n  bindVerb: bind\n" +
			"  enableHTTPS: true\n  httpTimeout: 3s\n  tlsConfig: {}\n",
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(folder, name+".yaml")
			connection := "clientConnection: {kubeconfig: " + kubeconfig + ", qps: 12.5}\n"
			harness.WriteFile(t, file, []byte("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"+connection+body))
			written := func(program, from string) string {
				into := filepath.Join(folder, "written.yaml")
				_ = os.Remove(into)
				code, _, errors := run(t, program, "--config="+from, "--secure-port=0", "--write-config-to="+into)
				text, err := os.ReadFile(into)
				if code != 0 || err != nil {
					t.Fatalf("%s ends with %d: %v\n%s", filepath.Base(program), code, err, errors)
				}
				return string(text)
			}
			theirs, ours := written(harness.Binary("kube-scheduler"), file), written(harness.BerthBinary(), file)
			if theirs != ours {
				t.Errorf("%s", firstDifference(theirs, ours))
			}
			again := filepath.Join(folder, name+"-again.yaml")
			harness.WriteFile(t, again, []byte(ours))
			if twice := written(harness.BerthBinary(), again); twice != ours {
				t.Errorf("read back: %s", firstDifference(ours, twice))
			}
		})
	}
}

// A changed file is in force without a restart; a wrong one changes nothing. The lease stays where it is.
func TestReloadOfTheConfiguration(t *testing.T) {
	c := harness.StartControlPlane(t, harness.Options{})
	c.CreateNodes(t, 2, "8", "16Gi")
	scheduler := c.StartScheduler(t, harness.SchedulerOptions{LeaderElection: election, Configuration: "profiles: [{schedulerName: first}]\n"})
	scheduler.WaitReady(t)
	named := func(name string) func(*v1.Pod) { return func(pod *v1.Pod) { pod.Spec.SchedulerName = name } }
	c.CreatePod(t, harness.MakePod("one", "1", named("first")))
	c.WaitPodBound(t, "one", 20*time.Second)
	holder := func() string {
		lease, err := c.Admin.CoordinationV1().Leases("kube-system").Get(context.Background(), "kube-scheduler", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(*lease.Spec.HolderIdentity, *lease.Spec.LeaseTransitions)
	}
	before := holder()
	file := filepath.Join(c.Logs, "berth.yaml")
	old, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	reloads := func(result string) float64 {
		return scheduler.Metric(t, "berth_config_reloads_total", fmt.Sprintf("result=%q", result))
	}

	c.CreatePod(t, harness.MakePod("two", "1", named("second")))
	harness.WriteFile(t, file, bytes.ReplaceAll(old, []byte("first"), []byte("second")))
	c.WaitPodBound(t, "two", 20*time.Second)
	if err := wantEqual("applied", reloads("applied"), 1); err != nil {
		t.Error(err)
	}
	// The first name is nobody's now.
	c.CreatePod(t, harness.MakePod("three", "1", named("first")))

	harness.WriteFile(t, file, []byte("profiles: [{schedulerName"))
	harness.Eventually(t, 10*time.Second, "the wrong file is refused", func() error { return wantEqual("refused", reloads("refused"), 1) })
	c.CreatePod(t, harness.MakePod("four", "1", named("second")))
	c.WaitPodBound(t, "four", 10*time.Second)
	if c.Pod(t, "three").Spec.NodeName != "" {
		t.Error("a profile that is gone still schedules")
	}

	harness.WriteFile(t, file, old)
	scheduler.Signal(syscall.SIGHUP)
	c.WaitPodBound(t, "three", 20*time.Second)
	if after := holder(); after != before {
		t.Errorf("the lease changed hands: %s, before %s", after, before)
	}
	if scheduler.Ended() {
		t.Error("the scheduler ended")
	}
	c.CheckBoundOnce(t, false)
}

// Reloads in the middle of work lose no pod and bind none twice.
func TestReloadWhilePodsAreScheduled(t *testing.T) {
	c := harness.StartControlPlane(t, harness.Options{})
	c.CreateNodes(t, 20, "64", "64Gi")
	scheduler := c.StartScheduler(t, harness.SchedulerOptions{Configuration: "podMaxBackoffSeconds: 10\n"})
	scheduler.WaitReady(t)
	file := filepath.Join(c.Logs, "berth.yaml")
	old, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.CreatePods(t, "pod", 600, "1")
	}()
	for i := range 6 {
		harness.WriteFile(t, file, bytes.ReplaceAll(old, []byte("podMaxBackoffSeconds: 10"), fmt.Appendf(nil, "podMaxBackoffSeconds: %d", 20+i)))
		scheduler.Signal(syscall.SIGHUP)
		time.Sleep(500 * time.Millisecond)
	}
	<-done
	c.WaitBound(t, 600, 60*time.Second)
	c.CheckBoundOnce(t, false)
	c.CheckNoOvercommit(t)
}

var klogLine = regexp.MustCompile(`^[IWEF]\d{4} \d\d:\d\d:\d\d\.\d{6} +\d+ [\w.-]+:\d+\] ".*"`)

// Each line of the log is one that klog's parsers read, and none of them shows what is secret.
func TestLogsParseAndKeepSecrets(t *testing.T) {
	for _, format := range []string{"text", "json"} {
		t.Run(format, func(t *testing.T) {
			c := harness.StartControlPlane(t, harness.Options{})
			c.CreateNodes(t, 2, "8", "16Gi")
			token := accountToken(t, c, "berth")
			file := filepath.Join(t.TempDir(), "token")
			harness.WriteFile(t, file, []byte(token))
			kubeconfig := c.TokenKubeconfig(t, "account", c.Port, file)
			scheduler := c.StartScheduler(t, harness.SchedulerOptions{Kubeconfig: kubeconfig, Flags: []string{"--v=10", "--logging-format=" + format,
				"--authorization-always-allow-paths=/*"}, Environment: []string{"BERTH_SECRET=hunter2hunter2"}})
			scheduler.WaitReady(t)
			c.CreatePods(t, "pod", 5, "1")
			c.WaitBound(t, 5, 20*time.Second)
			c.CreatePod(t, harness.MakePod("never", "1000"))
			harness.Eventually(t, 10*time.Second, "the pod that never fits is told so", func() error {
				if harness.Condition(c.Pod(t, "never"), v1.PodScheduled) == nil {
					return errors.New("not yet")
				}
				return nil
			})
			scheduler.Signal(syscall.SIGUSR2)
			harness.Eventually(t, 10*time.Second, "the dump is in the log", func() error {
				if !strings.Contains(scheduler.Log(), "Dump of scheduling queue") {
					return errors.New("not yet")
				}
				return nil
			})
			pages := ""
			for _, path := range []string{"/configz", "/flagz", "/statusz", "/metrics", "/debug/pprof/cmdline", "/healthz?verbose", "/metrics/resources"} {
				code, body, err := scheduler.Get(path)
				if err != nil || code != 200 {
					t.Errorf("%s: %d %v", path, code, err)
				}
				pages += body
			}
			log := scheduler.Log()
			for what, text := range map[string]string{"log": log, "pages": pages} {
				for _, secret := range []string{token, "hunter2hunter2", "PRIVATE KEY"} {
					if strings.Contains(text, secret) {
						t.Errorf("the %s shows a secret", what)
					}
				}
			}
			lines := 0
			continued := false
			for _, line := range strings.Split(strings.TrimSpace(log), "\n") {
				if strings.HasPrefix(line, "# ") {
					continue // of the harness
				}
				lines++
				if format == "json" {
					var object map[string]any
					if err := json.Unmarshal([]byte(line), &object); err != nil {
						t.Errorf("%v: %s", err, line)
					} else if _, isNumber := object["ts"].(float64); !isNumber || object["msg"] == nil {
						t.Errorf("no ts or msg: %s", line)
					}
					continue
				}
				// A value of several lines stands between "=<" and " >", each of its lines after a tab.
				if continued {
					continued = !strings.HasPrefix(line, " >") || strings.HasSuffix(line, "=<")
					if continued && !strings.HasPrefix(line, "\t") && !strings.HasPrefix(line, " >") {
						t.Errorf("inside of a value: %s", line)
					}
					continue
				}
				if !klogLine.MatchString(line) {
					t.Errorf("no line of klog: %s", line)
				}
				continued = strings.HasSuffix(line, "=<")
			}
			if lines < 50 {
				t.Errorf("only %d lines", lines)
			}
		})
	}
}

// accountToken is the token of a new ServiceAccount that may do what kube-scheduler may.
func accountToken(t *testing.T, c *harness.ControlPlane, name string) string {
	t.Helper()
	accounts := c.Admin.CoreV1().ServiceAccounts("kube-system")
	if _, err := accounts.Create(context.Background(), &v1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	c.GiveSchedulerRights(t, rbacv1.Subject{Kind: "ServiceAccount", Namespace: "kube-system", Name: name})
	token, err := accounts.CreateToken(context.Background(), name, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil || len(token.Status.Token) < 100 {
		t.Fatalf("no token: %v", err)
	}
	return token.Status.Token
}

// Strangers on the port do not keep pods waiting.
func TestServingUnderAttack(t *testing.T) {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil || limit.Max < 12000 {
		t.Skipf("only %d files may be open", limit.Max)
	}
	limit.Cur = limit.Max
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	c := harness.StartControlPlane(t, harness.Options{})
	c.CreateNodes(t, 5, "64", "64Gi")
	scheduler := c.StartScheduler(t, harness.SchedulerOptions{})
	scheduler.WaitReady(t)
	address := fmt.Sprintf("127.0.0.1:%d", scheduler.Port)
	// First, while nothing else takes memory.
	request, err := http.NewRequest(http.MethodPost, "https://"+address+"/metrics", io.LimitReader(zeros{}, 100<<20))
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	before, _ := scheduler.Resident()
	if answer, err := client.Do(request); err == nil {
		answer.Body.Close()
		if answer.StatusCode < 400 {
			t.Errorf("a request of 100 MB is answered with %d", answer.StatusCode)
		}
	}
	after, _ := scheduler.Resident()
	if after > before+50 {
		t.Errorf("a request of 100 MB took %d MiB", after-before)
	}
	const count = 10000
	opened := 0
	before, _ = scheduler.Resident()
	for range count {
		connection, err := net.DialTimeout("tcp", address, 2*time.Second)
		if err != nil {
			break
		}
		defer connection.Close()
		// The first bytes of a greeting that never ends.
		_, _ = connection.Write([]byte{0x16, 0x03, 0x01})
		opened++
	}
	resident, _ := scheduler.Resident()
	t.Logf("%d connections were opened half; the scheduler holds %d MiB, before %d", opened, resident, before)
	if opened < count {
		t.Errorf("only %d connections could be opened", opened)
	}
	if resident > before+40 {
		t.Errorf("connections that are half open took %d MiB", resident-before)
	}
	if dropped := scheduler.Metric(t, "berth_serving_connections_dropped_total"); dropped < count-600 {
		t.Errorf("%v connections were dropped", dropped)
	}
	start := time.Now()
	c.CreatePods(t, "pod", 100, "1")
	c.WaitBound(t, 100, 20*time.Second)
	t.Logf("100 pods were bound in %v meanwhile", time.Since(start))
	if code, _, err := scheduler.Get("/livez"); err != nil || code != 200 {
		t.Errorf("a probe among them: %d %v", code, err)
	}

	c.CreatePod(t, harness.MakePod("last", "1"))
	c.WaitPodBound(t, "last", 10*time.Second)
	if scheduler.Ended() {
		t.Error("the scheduler ended")
	}
}

type zeros struct{}

func (zeros) Read(into []byte) (int, error) {
	clear(into)
	return len(into), nil
}
