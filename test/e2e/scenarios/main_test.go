// Package scenarios tries berth on a real control plane: what must hold is read from the server's objects and its
// audit log. tools/e2e builds and runs it.
package scenarios

import (
	"fmt"
	"os"
	"testing"

	"berth/e2e/harness"
)

func TestMain(m *testing.M) {
	for _, name := range []string{"BERTH", "BERTH_E2E_BIN", "BERTH_E2E_LOGS"} {
		if os.Getenv(name) == "" {
			fmt.Fprintf(os.Stderr, "%s is not set: start the scenarios with tools/e2e\n", name)
			os.Exit(2)
		}
	}
	harness.EndOnSignal()
	os.Exit(m.Run())
}
