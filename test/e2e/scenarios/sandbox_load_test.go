package scenarios

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"syscall"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth/e2e/harness"
)

// Ten thousand watches in which nothing happens cost little memory and no time, and others are served as before. A clean
// stop takes less than a second with all of them open.
func TestSandboxIdleWatches(t *testing.T) {
	const count = 10000
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil || limit.Max < count+1000 {
		t.Skipf("only %d files may be open", limit.Max)
	}
	limit.Cur = limit.Max
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	port := harness.FreePort(t)
	s := harness.StartSandbox(t, "--nodes", "5", "--insecure-port", fmt.Sprint(port))
	empty, err := s.Resident()
	if err != nil {
		t.Fatal(err)
	}
	address := fmt.Sprintf("127.0.0.1:%d", port)
	readers := make([]*bufio.Reader, 0, count)
	for i := range count {
		connection, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatalf("connection %d: %v", i, err)
		}
		defer connection.Close()
		_, _ = fmt.Fprintf(connection, "GET /api/v1/namespaces/quiet/pods?watch=true HTTP/1.1\r\nHost: sandbox\r\n\r\n")
		readers = append(readers, bufio.NewReaderSize(connection, 512))
	}
	for i, reader := range readers {
		answer, err := http.ReadResponse(reader, nil)
		if err != nil || answer.StatusCode != http.StatusOK {
			t.Fatalf("watch %d: %v %v", i, answer, err)
		}
	}
	full, err := s.Resident()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d watches: %d MiB, %d before", count, full, empty)
	if full > empty+200 {
		t.Errorf("%d idle watches take %d MiB", count, full-empty)
	}

	for i := range 100 {
		if _, err := s.Client.CoreV1().Pods(harness.Namespace).Create(context.Background(), harness.MakePod(fmt.Sprintf("pod-%d", i), "100m"), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	harness.Eventually(t, 20*time.Second, "pods run beside the watches", func() error {
		pods, err := s.Client.CoreV1().Pods(harness.Namespace).List(context.Background(), metav1.ListOptions{FieldSelector: "status.phase=Running"})
		if err != nil {
			return err
		}
		return wantEqual("running pods", len(pods.Items), 100)
	})

	start := time.Now()
	s.Signal(syscall.SIGTERM)
	if code, err := s.WaitEnd(5 * time.Second); err != nil || code != 0 {
		t.Errorf("the sandbox ended with %d, %v", code, err)
	}
	if took := time.Since(start); took > time.Second {
		t.Errorf("the sandbox took %v to stop", took)
	}
}
