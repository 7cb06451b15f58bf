package harness

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// Options say what is particular about a control plane.
type Options struct {
	// FeatureGates are given to every component, as "A=true,B=false".
	FeatureGates string
	// Controllers starts kube-controller-manager with these; none without.
	Controllers []string
	// Sandbox serves with berth's own control plane instead: see OnBothServers.
	Sandbox bool
}

// ControlPlane is a real etcd and kube-apiserver on loopback, with RBAC and an audit log, of one scenario; or the sandbox
// in their place.
type ControlPlane struct {
	// Logs is where the programs write; kept if the scenario fails.
	Logs string
	// Port is kube-apiserver's.
	Port int
	// Admin may do everything.
	Admin        *kubernetes.Clientset
	AdminConfig  *rest.Config
	Authority    *Authority
	FrontProxies *Authority // signs for proxies that speak for users
	APIServer    *Process
	Controllers  *Process

	directory string
	etcdPort  int
	options   Options
}

// The user that RBAC's own rules know as the scheduler, and what the rules of the proxies know it by.
const (
	SchedulerUser  = "system:kube-scheduler"
	SchedulerToken = "scheduler-token"
)

const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Request
  resources: [{group: "", resources: [pods/binding, pods/status]}, {group: coordination.k8s.io, resources: [leases]}]
- level: Metadata
`

// Binary is the path of a program that tools/e2e built.
func Binary(name string) string { return filepath.Join(os.Getenv("BERTH_E2E_BIN"), name) }

// StartControlPlane starts a control plane and waits until it serves.
func StartControlPlane(t *testing.T, options Options) *ControlPlane {
	t.Helper()
	c := &ControlPlane{
		Logs:      LogFolder(t),
		directory: t.TempDir(),
		options:   options,
		Authority: NewAuthority(t, "cluster"),
	}
	if options.Sandbox {
		c.startSandbox(t)
		return c
	}
	c.Port, c.etcdPort = FreePort(t), FreePort(t)
	c.writeFiles(t)

	client := fmt.Sprintf("http://127.0.0.1:%d", c.etcdPort)
	StartProcess(t, c.Logs, "etcd", Binary("etcd"), []string{
		"--data-dir=" + filepath.Join(c.directory, "etcd"), "--unsafe-no-fsync", "--log-level=warn",
		"--listen-client-urls=" + client, "--advertise-client-urls=" + client, "--listen-peer-urls=http://127.0.0.1:0",
	})
	Eventually(t, 30*time.Second, "etcd is healthy", func() error { return getOK(http.DefaultClient, client+"/health") })

	config, err := clientcmd.BuildConfigFromFlags("", c.Kubeconfig(t, "admin", c.Port, c.Authority.Client(t, "admin", "system:masters")))
	if err != nil {
		t.Fatal(err)
	}
	config.QPS, config.Burst = -1, -1
	c.AdminConfig, c.Admin = config, kubernetes.NewForConfigOrDie(config)
	c.StartAPIServer(t)
	if len(options.Controllers) > 0 {
		c.startControllers(t)
	}
	return c
}

// LogFolder is an empty folder for the logs of this scenario, gone after it unless it fails.
func LogFolder(t *testing.T) string {
	t.Helper()
	path := filepath.Join(os.Getenv("BERTH_E2E_LOGS"), strings.ReplaceAll(t.Name(), "/", "-"))
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(path, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() || os.Getenv("BERTH_E2E_KEEP") != "" {
			t.Logf("logs: %s", path)
		} else {
			_ = os.RemoveAll(path)
		}
	})
	return path
}

func (c *ControlPlane) path(name string) string { return filepath.Join(c.directory, name) }

// ServingCertificate is the path, without its endings, of what kube-apiserver serves with.
func (c *ControlPlane) ServingCertificate() string { return c.path("apiserver") }

// CAFile is the file with the authorities that the kubeconfigs trust.
func (c *ControlPlane) CAFile() string { return c.path("ca.crt") }

func (c *ControlPlane) writeFiles(t *testing.T) {
	t.Helper()
	WriteFile(t, c.CAFile(), c.Authority.PEM)
	WriteFile(t, c.path("clients.crt"), c.Authority.PEM)
	c.FrontProxies = NewAuthority(t, "front-proxies")
	WriteFile(t, c.path("front-proxy.crt"), c.FrontProxies.PEM)
	c.Authority.Server(t).WriteFiles(t, c.ServingCertificate())
	accounts := newKey(t)
	WriteFile(t, c.path("accounts.key"), encodeKey(t, accounts))
	WriteFile(t, c.path("accounts.pub"), encodePublicKey(t, accounts))
	WriteFile(t, c.path("audit.yaml"), []byte(auditPolicy))
	c.writeTokens(t)
}

// Users that come without a certificate.
func (c *ControlPlane) writeTokens(t *testing.T) {
	t.Helper()
	WriteFile(t, c.path("tokens.csv"), []byte(SchedulerToken+","+SchedulerUser+",scheduler\n"))
}

// StartAPIServer starts kube-apiserver, for the first time or again, and waits until it is ready.
func (c *ControlPlane) StartAPIServer(t *testing.T) {
	t.Helper()
	arguments := []string{
		fmt.Sprintf("--etcd-servers=http://127.0.0.1:%d", c.etcdPort), "--etcd-compaction-interval=0",
		"--bind-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", c.Port),
		"--advertise-address=127.0.0.1", "--endpoint-reconciler-type=none",
		"--tls-cert-file=" + c.ServingCertificate() + ".crt", "--tls-private-key-file=" + c.ServingCertificate() + ".key",
		"--client-ca-file=" + c.path("clients.crt"), "--token-auth-file=" + c.path("tokens.csv"), "--authorization-mode=RBAC",
		"--requestheader-client-ca-file=" + c.path("front-proxy.crt"), "--requestheader-allowed-names=front-proxy",
		"--requestheader-username-headers=X-Remote-User", "--requestheader-group-headers=X-Remote-Group",
		"--requestheader-extra-headers-prefix=X-Remote-Extra-",
		"--service-account-issuer=https://kubernetes.default.svc", "--service-account-key-file=" + c.path("accounts.pub"),
		"--service-account-signing-key-file=" + c.path("accounts.key"), "--service-cluster-ip-range=10.0.0.0/24",
		// Pods need no service account, and nodes are usable as soon as they are there.
		"--disable-admission-plugins=ServiceAccount,TaintNodesByCondition",
		"--runtime-config=api/beta=true",
		"--audit-policy-file=" + c.path("audit.yaml"), "--audit-log-path=" + c.auditPath(), "--audit-log-mode=blocking",
		"--audit-log-maxsize=2000",
	}
	if c.options.FeatureGates != "" {
		arguments = append(arguments, "--feature-gates="+c.options.FeatureGates)
	}
	c.APIServer = StartProcess(t, c.Logs, "kube-apiserver", Binary("kube-apiserver"), arguments)
	c.WaitServing(t)
}

// WaitServing waits until kube-apiserver is ready.
func (c *ControlPlane) WaitServing(t *testing.T) {
	t.Helper()
	Eventually(t, 90*time.Second, "kube-apiserver is ready", func() error {
		if c.APIServer.Ended() {
			return Hopeless("kube-apiserver ended, see " + c.APIServer.LogPath)
		}
		return c.Admin.RESTClient().Get().AbsPath("/readyz").Do(context.Background()).Error()
	})
}

// StopAPIServer ends kube-apiserver with a signal and waits until it is gone.
func (c *ControlPlane) StopAPIServer(t *testing.T, with syscall.Signal) {
	t.Helper()
	c.APIServer.Signal(with)
	if _, err := c.APIServer.WaitEnd(90 * time.Second); err != nil {
		t.Fatal(err)
	}
}

func (c *ControlPlane) startControllers(t *testing.T) {
	t.Helper()
	port := FreePort(t)
	arguments := []string{
		"--kubeconfig=" + c.Kubeconfig(t, "controllers", c.Port, c.Authority.Client(t, "system:kube-controller-manager")),
		"--controllers=" + strings.Join(c.options.Controllers, ","), "--leader-elect=false",
		"--bind-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", port), "--cert-dir=" + c.path("controllers-cert"),
		"--service-account-private-key-file=" + c.path("accounts.key"), "--root-ca-file=" + c.CAFile(),
		// Without, RBAC refuses everything that a controller does.
		"--use-service-account-credentials=true", "--kube-api-qps=1000", "--kube-api-burst=1000",
	}
	if c.options.FeatureGates != "" {
		arguments = append(arguments, "--feature-gates="+c.options.FeatureGates)
	}
	c.Controllers = StartProcess(t, c.Logs, "kube-controller-manager", Binary("kube-controller-manager"), arguments)
	Eventually(t, 60*time.Second, "kube-controller-manager is healthy", func() error {
		if c.Controllers.Ended() {
			return Hopeless("kube-controller-manager ended, see " + c.Controllers.LogPath)
		}
		return getOK(insecureClient(), fmt.Sprintf("https://127.0.0.1:%d/healthz", port))
	})
}

// Kubeconfig writes a kubeconfig for a user with a certificate, to kube-apiserver or a proxy before it.
func (c *ControlPlane) Kubeconfig(t *testing.T, name string, port int, user Certificate) string {
	t.Helper()
	user.WriteFiles(t, c.path(name))
	return c.writeKubeconfig(t, name, port,
		fmt.Sprintf("{client-certificate: %[1]s.crt, client-key: %[1]s.key}", c.path(name)))
}

// TokenKubeconfig is a kubeconfig whose user has a token in a file.
func (c *ControlPlane) TokenKubeconfig(t *testing.T, name string, port int, tokenFile string) string {
	t.Helper()
	return c.writeKubeconfig(t, name, port, fmt.Sprintf("{tokenFile: %s}", tokenFile))
}

// SchedulerKubeconfig is the kubeconfig of system:kube-scheduler.
func (c *ControlPlane) SchedulerKubeconfig(t *testing.T, port int) string {
	t.Helper()
	if c.options.Sandbox {
		return c.SchedulerTokenKubeconfig(t, port)
	}
	return c.Kubeconfig(t, "scheduler", port, c.Authority.Client(t, SchedulerUser))
}

// SchedulerTokenKubeconfig is the same for a user without a certificate, for proxies that end TLS.
func (c *ControlPlane) SchedulerTokenKubeconfig(t *testing.T, port int) string {
	t.Helper()
	file := c.path("scheduler.token")
	WriteFile(t, file, []byte(SchedulerToken))
	return c.TokenKubeconfig(t, "scheduler-token", port, file)
}

func (c *ControlPlane) writeKubeconfig(t *testing.T, name string, port int, user string) string {
	t.Helper()
	path := c.path(name + ".kubeconfig")
	WriteFile(t, path, fmt.Appendf(nil, `apiVersion: v1
kind: Config
clusters:
- name: e2e
  cluster: {server: "https://127.0.0.1:%d", certificate-authority: %s}
users:
- name: user
  user: %s
contexts:
- name: e2e
  context: {cluster: e2e, user: user}
current-context: e2e
`, port, c.CAFile(), user))
	return path
}

// FreePort is a port of loopback that nobody listens on.
func FreePort(t *testing.T) int {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port
}
