package harness

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// Kubectl runs the real kubectl as the administrator and gives what it printed. It must succeed.
func (c *ControlPlane) Kubectl(t *testing.T, limit time.Duration, arguments ...string) string {
	t.Helper()
	result := RunKubectl(t, c.AdminKubeconfig(), limit, "", arguments...)
	if result.Code != 0 {
		t.Fatalf("kubectl %s: exit code %d\n%s%s", strings.Join(arguments, " "), result.Code, result.Out, result.Err)
	}
	return result.Out
}

// AdminKubeconfig is the administrator's kubeconfig.
func (c *ControlPlane) AdminKubeconfig() string { return c.path("admin.kubeconfig") }

// CommandResult is what a command said.
type CommandResult struct {
	Out, Err string
	Code     int
}

// RunKubectl runs the real kubectl with a kubeconfig and an input.
func RunKubectl(t *testing.T, kubeconfig string, limit time.Duration, input string, arguments ...string) CommandResult {
	t.Helper()
	return RunKubectlWithEditor(t, kubeconfig, limit, "false", input, arguments...)
}

// RunKubectlWithEditor is for `kubectl edit`: the editor is a command that changes the file behind it.
func RunKubectlWithEditor(t *testing.T, kubeconfig string, limit time.Duration, editor, input string, arguments ...string) CommandResult {
	t.Helper()
	ctx, stop := context.WithTimeout(context.Background(), limit)
	defer stop()
	command := exec.CommandContext(ctx, Binary("kubectl"), append([]string{"--kubeconfig", kubeconfig}, arguments...)...)
	home := t.TempDir()
	command.Env = []string{"HOME=" + home, "TMPDIR=" + home, "PATH=/usr/bin:/bin", "EDITOR=" + editor}
	var out, failure bytes.Buffer
	command.Stdin, command.Stdout, command.Stderr = strings.NewReader(input), &out, &failure
	err := command.Run()
	result := CommandResult{Out: out.String(), Err: failure.String()}
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		result.Code = exit.ExitCode()
	case err != nil:
		t.Fatalf("kubectl %s: %v", strings.Join(arguments, " "), err)
	}
	return result
}
