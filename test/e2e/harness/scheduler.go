package harness

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// SchedulerOptions say how berth is to run.
type SchedulerOptions struct {
	// Name tells several apart in the logs; "berth" if empty.
	Name string
	// Kubeconfig is how it reaches the API server; as system:kube-scheduler, directly, if empty.
	Kubeconfig string
	// Configuration is YAML that is added to its file.
	Configuration string
	// LeaderElection is the inside of the section of that name; off if empty.
	LeaderElection string
	// QPS limits its requests; no limit if 0.
	QPS int
	// Flags are added to its command line.
	Flags []string
	// Environment is added to its own, as NAME=VALUE.
	Environment []string
}

// Scheduler is a running berth.
type Scheduler struct {
	*Process
	Port int
}

// BerthBinary is the berth that is tested.
func BerthBinary() string { return os.Getenv("BERTH") }

// StartScheduler starts berth. It may not be ready yet.
func (c *ControlPlane) StartScheduler(t *testing.T, options SchedulerOptions) *Scheduler {
	t.Helper()
	if options.Name == "" {
		options.Name = "berth"
	}
	if options.Kubeconfig == "" {
		options.Kubeconfig = c.SchedulerKubeconfig(t, c.Port)
	}
	if options.LeaderElection == "" {
		options.LeaderElection = "leaderElect: false"
	}
	limit := "qps: -1"
	if options.QPS > 0 {
		limit = fmt.Sprintf("qps: %d, burst: %d", options.QPS, options.QPS)
	}
	file := filepath.Join(c.Logs, options.Name+".yaml")
	WriteFile(t, file, fmt.Appendf(nil, `apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
clientConnection: {kubeconfig: %s, %s}
leaderElection: {%s}
%s`, options.Kubeconfig, limit, options.LeaderElection, options.Configuration))

	scheduler := &Scheduler{Port: FreePort(t)}
	flags := []string{"scheduler", "--config=" + file, "--v=2", "--bind-address=127.0.0.1",
		fmt.Sprintf("--secure-port=%d", scheduler.Port),
		"--authorization-always-allow-paths=/healthz,/readyz,/livez,/metrics"}
	scheduler.Process = StartProcess(t, c.Logs, options.Name, BerthBinary(), append(flags, options.Flags...), options.Environment...)
	return scheduler
}

// Get asks the scheduler's own port as nobody in particular.
func (s *Scheduler) Get(path string) (int, string, error) {
	answer, err := insecureClient().Get(fmt.Sprintf("https://127.0.0.1:%d%s", s.Port, path))
	if err != nil {
		return 0, "", err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	return answer.StatusCode, string(body), err
}

// WaitReady waits until the scheduler has seen the cluster.
func (s *Scheduler) WaitReady(t *testing.T) {
	t.Helper()
	Eventually(t, 60*time.Second, s.Name+" is ready", func() error {
		if s.Ended() {
			return Hopeless(s.Name + " ended, see " + s.LogPath)
		}
		code, body, err := s.Get("/readyz")
		if err == nil && code != http.StatusOK {
			err = fmt.Errorf("readyz: %d %s", code, body)
		}
		return err
	})
}

// Metric adds up the samples of a metric whose labels contain all of these, as name="value".
func (s *Scheduler) Metric(t *testing.T, name string, labels ...string) float64 {
	t.Helper()
	code, text, err := s.Get("/metrics")
	if err != nil || code != http.StatusOK {
		t.Fatalf("metrics of %s: %d %v", s.Name, code, err)
	}
	sum := 0.0
	lines := bufio.NewScanner(strings.NewReader(text))
next:
	for lines.Scan() {
		rest, found := strings.CutPrefix(lines.Text(), name)
		if !found || rest == "" || (rest[0] != '{' && rest[0] != ' ') {
			continue
		}
		for _, label := range labels {
			if !strings.Contains(rest, label) {
				continue next
			}
		}
		value, err := strconv.ParseFloat(rest[strings.LastIndexByte(rest, ' ')+1:], 64)
		if err != nil {
			t.Fatalf("metric line %q: %v", lines.Text(), err)
		}
		sum += value
	}
	return sum
}
