package harness

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// Sandbox is berth's own control plane.
type Sandbox struct {
	*Process
	Kubeconfig string
	Config     *rest.Config
	Client     *kubernetes.Clientset
	Logs       string
	directory  string
}

// StartSandbox starts `berth sandbox` and waits until it serves.
func StartSandbox(t *testing.T, flags ...string) *Sandbox {
	t.Helper()
	return StartSandboxIn(t, LogFolder(t), "sandbox", flags...)
}

// StartSandboxIn is for scenarios with several: their logs go by their names.
func StartSandboxIn(t *testing.T, logs, name string, flags ...string) *Sandbox {
	t.Helper()
	s := &Sandbox{Logs: logs, directory: t.TempDir()}
	s.Kubeconfig = filepath.Join(s.directory, "kubeconfig")
	s.Process = StartProcess(t, s.Logs, name, BerthBinary(), append([]string{"sandbox", "--kubeconfig-out", s.Kubeconfig}, flags...))
	Eventually(t, 30*time.Second, "the sandbox is ready", func() error {
		if s.Ended() {
			return Hopeless("the sandbox ended: " + s.Log())
		}
		if !strings.Contains(s.Log(), "ready") {
			return fmt.Errorf("it says: %s", s.Log())
		}
		return nil
	})
	config, err := clientcmd.BuildConfigFromFlags("", s.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	config.QPS, config.Burst = -1, -1
	s.Config, s.Client = config, kubernetes.NewForConfigOrDie(config)
	return s
}

// Kubectl runs the real kubectl on the sandbox.
func (s *Sandbox) Kubectl(t *testing.T, input string, arguments ...string) CommandResult {
	t.Helper()
	return RunKubectl(t, s.Kubeconfig, time.Minute, input, arguments...)
}

// StartKubeScheduler runs the real kube-scheduler on the sandbox with nothing but the kubeconfig.
func (s *Sandbox) StartKubeScheduler(t *testing.T) *Process {
	t.Helper()
	return s.StartSchedulerProcess(t, "kube-scheduler", "")
}

// StartSchedulerProcess runs kube-scheduler or berth on the sandbox, with the same file of configuration but for its name.
func (s *Sandbox) StartSchedulerProcess(t *testing.T, name, configuration string, flags ...string) *Process {
	t.Helper()
	config := filepath.Join(s.directory, name+".yaml")
	WriteFile(t, config, fmt.Appendf(nil, `apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
clientConnection: {kubeconfig: %s, qps: 5000, burst: 5000}
%s`, s.Kubeconfig, configuration))
	program, arguments := Binary("kube-scheduler"), []string{
		"--config=" + config, "--bind-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", FreePort(t)),
		"--cert-dir=" + filepath.Join(s.directory, name),
		"--authentication-kubeconfig=" + s.Kubeconfig, "--authorization-kubeconfig=" + s.Kubeconfig,
	}
	if name != "kube-scheduler" {
		program, arguments = BerthBinary(), append([]string{"scheduler"}, arguments...)
	}
	return StartProcess(t, s.Logs, name, program, append(arguments, flags...))
}

// StartControllers runs the real kube-controller-manager on the sandbox.
func (s *Sandbox) StartControllers(t *testing.T, controllers ...string) *Process {
	t.Helper()
	key := newKey(t)
	file := filepath.Join(s.directory, "accounts.key")
	if err := os.WriteFile(file, encodeKey(t, key), 0o600); err != nil {
		t.Fatal(err)
	}
	return StartProcess(t, s.Logs, "kube-controller-manager", Binary("kube-controller-manager"), []string{
		"--kubeconfig=" + s.Kubeconfig, "--controllers=" + strings.Join(controllers, ","), "--leader-elect=false",
		"--bind-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", FreePort(t)),
		"--cert-dir=" + filepath.Join(s.directory, "controllers"), "--service-account-private-key-file=" + file,
	})
}
