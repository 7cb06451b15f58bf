package scenarios

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync"
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

// savedWriter writes ConfigMaps and remembers what the server acknowledged. One write may be without an answer.
type savedWriter struct {
	name      string
	server    string
	client    *http.Client
	random    *rand.Rand
	known     map[string]string // by name
	uncertain string            // a name whose last write got no answer
	wanted    string            // what that write was to leave; "" for a deletion
	writes    int
}

// write makes, changes or deletes one of the writer's objects. False: the server is gone.
func (w *savedWriter) write(t *testing.T) bool {
	name := fmt.Sprintf("%s-%d", w.name, w.random.IntN(20))
	value := fmt.Sprintf("%s-%d", w.name, w.random.Int())
	_, exists := w.known[name]
	method, url := http.MethodPost, w.server
	switch {
	case exists && w.random.IntN(4) == 0:
		method, url, value = http.MethodDelete, w.server+"/"+name, ""
	case exists:
		method, url = http.MethodPut, w.server+"/"+name
	}
	body := fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":%q},"data":{"value":%q}}`, name, value)
	if method == http.MethodDelete {
		body = ""
	}
	request, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		t.Error(err)
		return false
	}
	w.uncertain, w.wanted = name, value
	answer, err := w.client.Do(request)
	if err != nil {
		return false
	}
	_, err = io.Copy(io.Discard, answer.Body)
	_ = answer.Body.Close()
	if err != nil {
		return false
	}
	if answer.StatusCode >= 300 {
		t.Errorf("%s %s: %s", method, url, answer.Status)
		return false
	}
	w.uncertain = ""
	w.keep(name, value)
	w.writes++
	return true
}

func (w *savedWriter) keep(name, value string) {
	if value == "" {
		delete(w.known, name)
	} else {
		w.known[name] = value
	}
}

// check compares what is there after a restart with what was acknowledged.
func (w *savedWriter) check(t *testing.T, there map[string]string) {
	t.Helper()
	if w.uncertain != "" && there[w.uncertain] == w.wanted {
		w.keep(w.uncertain, w.wanted)
	}
	w.uncertain = ""
	for i := range 20 {
		name := fmt.Sprintf("%s-%d", w.name, i)
		if there[name] != w.known[name] {
			t.Errorf("%s is %q, and %q was acknowledged", name, there[name], w.known[name])
		}
	}
}

// A sandbox that is killed two hundred times, each time in the middle of the writes of eight clients, has every write
// that it acknowledged when it comes back, and none that nobody made.
func TestSandboxKilledUnderLoad(t *testing.T) {
	const kills, clients = 200, 8
	port := harness.FreePort(t)
	server := fmt.Sprintf("http://127.0.0.1:%d", port)
	folder, logs := t.TempDir(), harness.LogFolder(t)
	start := func() *harness.Process {
		t.Helper()
		process := harness.StartProcess(t, logs, "sandbox", harness.BerthBinary(), []string{"sandbox", "--no-scheduler", "--no-controllers",
			"--no-kubelet", "--insecure-port", fmt.Sprint(port), "--data-dir", folder + "/data", "--kubeconfig-out", folder + "/kubeconfig"})
		harness.Eventually(t, 30*time.Second, "the sandbox serves", func() error {
			if process.Ended() {
				return harness.Hopeless("the sandbox ended: " + process.Log())
			}
			answer, err := http.Get(server + "/readyz")
			if err == nil {
				_ = answer.Body.Close()
			}
			return err
		})
		return process
	}
	const seed = 20261118
	random := rand.New(rand.NewPCG(seed, 0))
	writers := make([]*savedWriter, clients)
	for i := range writers {
		writers[i] = &savedWriter{
			name: fmt.Sprintf("writer-%d", i), server: server + "/api/v1/namespaces/default/configmaps", client: &http.Client{Transport: &http.Transport{}, Timeout: 10 * time.Second},
			random: rand.New(rand.NewPCG(seed, uint64(i+1))), known: map[string]string{},
		}
	}
	process := start()
	for kill := range kills {
		var work sync.WaitGroup
		for _, writer := range writers {
			work.Go(func() {
				for writer.write(t) {
				}
			})
		}
		time.Sleep(time.Duration(5+random.IntN(100)) * time.Millisecond) // a random moment
		process.Kill()
		work.Wait()
		process = start()
		there := savedValues(t, writers[0].server)
		for _, writer := range writers {
			writer.check(t, there)
		}
		if t.Failed() {
			t.Fatalf("after %d kills", kill+1)
		}
	}
	writes := 0
	for _, writer := range writers {
		writes += writer.writes
	}
	t.Logf("%d kills, %d acknowledged writes, all there", kills, writes)
	if writes < 10*kills {
		t.Errorf("only %d writes: that is no load", writes)
	}
}

// savedValues are the values of all ConfigMaps, by name.
func savedValues(t *testing.T, server string) map[string]string {
	t.Helper()
	answer, err := http.Get(server)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var list struct {
		Items []struct {
			Metadata struct{ Name string }
			Data     map[string]string
		}
	}
	if err := json.NewDecoder(answer.Body).Decode(&list); err != nil {
		t.Fatal(err)
	}
	values := map[string]string{}
	for _, item := range list.Items {
		values[item.Metadata.Name] = item.Data["value"]
	}
	return values
}
