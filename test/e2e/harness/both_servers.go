package harness

import (
	"fmt"
	"net/url"
	"os"
	"slices"
	"strconv"
	"testing"
)

// OnBothServers tells a scenario twice, with the same expectations: on the real kube-apiserver and on the sandbox.
//
// What the sandbox has no equal of is not in such scenarios: it has no RBAC (whoever has a token may do everything),
// no client certificates (users come by token), and no etcd to compact.
func OnBothServers(t *testing.T, options Options, scenario func(*testing.T, *ControlPlane)) {
	t.Helper()
	for _, sandbox := range []bool{false, true} {
		name := "kube-apiserver"
		if sandbox {
			name = "sandbox"
		}
		t.Run(name, func(t *testing.T) {
			options.Sandbox = sandbox
			scenario(t, StartControlPlane(t, options))
		})
	}
}

// sandboxControllers are those that the sandbox has: kube-controller-manager's, and a provisioner of volumes, which on
// a cluster comes with a driver.
var sandboxControllers = []string{
	"csi-provisioner", "deployment-controller", "disruption-controller", "ephemeral-volume-controller", "garbage-collector-controller",
	"job-controller", "namespace-controller", "node-lifecycle-controller", "persistentvolume-binder-controller",
	"replicaset-controller", "replicationcontroller-controller", "resourceclaim-controller", "serviceaccount-controller",
	"statefulset-controller",
}

// startSandbox serves the control plane by the sandbox, with its own controllers in the place of
// kube-controller-manager's, and with nodes that run nothing unless StartKubelets lets them.
func (c *ControlPlane) startSandbox(t *testing.T) {
	t.Helper()
	if c.options.FeatureGates != "" {
		t.Fatal("the sandbox has no feature gates")
	}
	c.writeTokens(t)
	flags := []string{"--no-scheduler", "--no-kubelet", "--token-auth-file", c.path("tokens.csv"), "--audit-log", c.auditPath()}
	if len(c.options.Controllers) == 0 {
		flags = append(flags, "--no-controllers")
	} else {
		for _, name := range sandboxControllers {
			if !slices.Contains(c.options.Controllers, name) {
				flags = append(flags, "--disable-controller", name)
			}
		}
	}
	s := StartSandboxIn(t, c.Logs, "sandbox", flags...)
	c.APIServer, c.Admin, c.AdminConfig = s.Process, s.Client, s.Config
	kubeconfig, err := os.ReadFile(s.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	WriteFile(t, c.AdminKubeconfig(), kubeconfig)
	// Proxies have certificates of the harness, the sandbox has its own.
	WriteFile(t, c.CAFile(), fmt.Appendf(nil, "%s\n%s", s.Config.CAData, c.Authority.PEM))
	address, err := url.Parse(s.Config.Host)
	if err != nil {
		t.Fatal(err)
	}
	if c.Port, err = strconv.Atoi(address.Port()); err != nil {
		t.Fatal(err)
	}
}
