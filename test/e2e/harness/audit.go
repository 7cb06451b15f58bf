package harness

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// Request is one request as kube-apiserver's audit log has it.
type Request struct {
	ID        string
	Verb      string
	URI       string
	User      string
	Agent     string
	Resource  string // "pods" or "pods/binding"
	Namespace string
	Name      string
	Code      int
	Received  time.Time
	Answered  time.Time
	Body      json.RawMessage // of bindings, pod statuses and leases
}

func (r Request) String() string {
	return fmt.Sprintf("%s %s %s by %s: %d", r.Received.Format("15:04:05.000"), r.Verb, r.URI, r.User, r.Code)
}

// Successful says whether the server did what was asked.
func (r Request) Successful() bool { return r.Code >= 200 && r.Code < 300 }

func (c *ControlPlane) auditPath() string { return filepath.Join(c.Logs, "audit.log") }

// Requests reads the audit log: the requests that keep says yes to, in the order in which they were received.
func (c *ControlPlane) Requests(t *testing.T, keep func(Request) bool) []Request {
	t.Helper()
	file, err := os.Open(c.auditPath())
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()

	var requests []Request
	seen := map[string]int{}
	lines := bufio.NewReaderSize(file, 1<<20)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			break // the end, or a line that is being written
		}
		request, err := parseAudit(line)
		if err != nil {
			// A server that was killed leaves half a line, and its successor goes on behind it.
			continue
		}
		if !keep(request) {
			continue
		}
		if at, again := seen[request.ID]; again { // a watch, when it starts and when it ends
			requests[at] = request
			continue
		}
		seen[request.ID] = len(requests)
		requests = append(requests, request)
	}
	slices.SortStableFunc(requests, func(a, b Request) int { return a.Received.Compare(b.Received) })
	return requests
}

func parseAudit(line []byte) (Request, error) {
	var event struct {
		AuditID    string
		Verb       string
		RequestURI string
		UserAgent  string
		User       struct{ Username string }
		ObjectRef  struct{ Resource, Subresource, Namespace, Name string }

		ResponseStatus           struct{ Code int }
		RequestReceivedTimestamp time.Time
		StageTimestamp           time.Time
		RequestObject            json.RawMessage
	}
	if err := json.Unmarshal(bytes.TrimSpace(line), &event); err != nil {
		return Request{}, err
	}
	resource := event.ObjectRef.Resource
	if event.ObjectRef.Subresource != "" {
		resource += "/" + event.ObjectRef.Subresource
	}
	return Request{
		ID: event.AuditID, Verb: event.Verb, URI: event.RequestURI, User: event.User.Username, Agent: event.UserAgent,
		Resource: resource, Namespace: event.ObjectRef.Namespace, Name: event.ObjectRef.Name,
		Code: event.ResponseStatus.Code, Received: event.RequestReceivedTimestamp, Answered: event.StageTimestamp,
		Body: event.RequestObject,
	}, nil
}

// Binding is a pod's way to a node, as it was asked for.
type Binding struct {
	Request
	Node string
}

// Bindings are the bindings that users asked for. Those without a node were refused before anybody read them.
func (c *ControlPlane) Bindings(t *testing.T) []Binding {
	t.Helper()
	requests := c.Requests(t, func(r Request) bool { return r.Verb == "create" && r.Resource == "pods/binding" })
	var bindings []Binding
	for _, request := range requests {
		var body struct{ Target struct{ Name string } }
		if err := json.Unmarshal(request.Body, &body); err != nil && request.Successful() {
			t.Fatalf("binding without a target: %s: %v", request, err)
		}
		bindings = append(bindings, Binding{request, body.Target.Name})
	}
	return bindings
}

// BusiestSecond is the largest number of the requests that fell into one second.
func BusiestSecond(requests []Request) int {
	most := 0
	for first, last := 0, 0; last < len(requests); last++ {
		for requests[last].Received.Sub(requests[first].Received) >= time.Second {
			first++
		}
		most = max(most, last-first+1)
	}
	return most
}
