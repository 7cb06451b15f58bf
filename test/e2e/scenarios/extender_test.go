package scenarios

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"

	"berth/e2e/harness"
)

// extender is a program outside that has a say, and that behaves as the pod's label "mode" wants it to.
type extender struct {
	*httptest.Server
	c *harness.ControlPlane

	mutex    sync.Mutex
	healed   bool // no pod gets bad answers any more
	filtered map[string]*extenderv1.ExtenderArgs
	bound    map[string]string
}

func startExtender(t *testing.T, c *harness.ControlPlane, secure bool) *extender {
	t.Helper()
	e := &extender{c: c, filtered: map[string]*extenderv1.ExtenderArgs{}, bound: map[string]string{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /outside/filter", e.filter)
	mux.HandleFunc("POST /outside/prioritize", e.prioritize)
	mux.HandleFunc("POST /outside/preempt", e.preempt)
	mux.HandleFunc("POST /outside/bind", e.bind)
	if secure {
		e.Server = httptest.NewTLSServer(mux)
	} else {
		e.Server = httptest.NewServer(mux)
	}
	t.Cleanup(e.CloseClientConnections)
	return e
}

func (e *extender) heal() {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	e.healed = true
}

func (e *extender) seen(pod string) *extenderv1.ExtenderArgs {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	return e.filtered[pod]
}

// misbehaves answers for pods whose mode is a bad one. True: it has answered.
func (e *extender) misbehaves(w http.ResponseWriter, mode string) bool {
	e.mutex.Lock()
	healed := e.healed
	e.mutex.Unlock()
	if healed {
		return false
	}
	switch mode {
	case "fails":
		http.Error(w, "on purpose", http.StatusInternalServerError)
	case "garbage":
		fmt.Fprint(w, "<html>no JSON at all</html>")
	case "empty":
		w.WriteHeader(http.StatusOK)
	case "torn":
		w.Header().Set("Content-Length", "1000")
		fmt.Fprint(w, `{"NodeNames":["node-0"`)
	case "oversized":
		fmt.Fprint(w, `{"NodeNames":["`)
		chunk := strings.Repeat("x", 1<<20)
		for range 80 {
			if _, err := io.WriteString(w, chunk); err != nil {
				return true
			}
		}
		fmt.Fprint(w, `"]}`)
	case "unknown":
		fmt.Fprint(w, `{"NodeNames":["node-of-dreams"],"Nodes":{"items":[{"metadata":{"name":"node-of-dreams"}}]}}`)
	case "says-error":
		fmt.Fprint(w, `{"Error":"the licence server is down"}`)
	case "late":
		time.Sleep(3 * time.Second)
	default:
		return false
	}
	return true
}

func namesOf(args *extenderv1.ExtenderArgs) []string {
	if args.NodeNames != nil {
		return *args.NodeNames
	}
	names := []string{}
	for _, node := range args.Nodes.Items {
		names = append(names, node.Name)
	}
	return names
}

func (e *extender) filter(w http.ResponseWriter, r *http.Request) {
	args := &extenderv1.ExtenderArgs{}
	if err := json.NewDecoder(r.Body).Decode(args); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	e.mutex.Lock()
	e.filtered[args.Pod.Name] = args
	e.mutex.Unlock()
	if e.misbehaves(w, args.Pod.Labels["mode"]) {
		return
	}
	result := extenderv1.ExtenderFilterResult{FailedNodes: extenderv1.FailedNodesMap{}}
	wanted := args.Pod.Annotations["node"]
	kept := []string{}
	for _, name := range namesOf(args) {
		if wanted == "" || wanted == name {
			kept = append(kept, name)
		} else {
			result.FailedNodes[name] = "no licence"
		}
	}
	if args.NodeNames != nil {
		result.NodeNames = &kept
	} else {
		result.Nodes = &v1.NodeList{}
		for _, node := range args.Nodes.Items {
			for _, name := range kept {
				if name == node.Name {
					result.Nodes.Items = append(result.Nodes.Items, node)
				}
			}
		}
	}
	json.NewEncoder(w).Encode(result)
}

func (e *extender) prioritize(w http.ResponseWriter, r *http.Request) {
	args := &extenderv1.ExtenderArgs{}
	if err := json.NewDecoder(r.Body).Decode(args); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	scores := extenderv1.HostPriorityList{}
	for _, name := range namesOf(args) {
		score := int64(0)
		if args.Pod.Annotations["prefers"] == name {
			score = extenderv1.MaxExtenderPriority
		}
		scores = append(scores, extenderv1.HostPriority{Host: name, Score: score})
	}
	json.NewEncoder(w).Encode(scores)
}

func (e *extender) preempt(w http.ResponseWriter, r *http.Request) {
	args := &extenderv1.ExtenderPreemptionArgs{}
	if err := json.NewDecoder(r.Body).Decode(args); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	result := extenderv1.ExtenderPreemptionResult{NodeNameToMetaVictims: map[string]*extenderv1.MetaVictims{}}
	for node, victims := range args.NodeNameToMetaVictims {
		if node == args.Pod.Annotations["node"] {
			result.NodeNameToMetaVictims[node] = victims
		}
	}
	json.NewEncoder(w).Encode(result)
}

func (e *extender) bind(w http.ResponseWriter, r *http.Request) {
	args := &extenderv1.ExtenderBindingArgs{}
	if err := json.NewDecoder(r.Body).Decode(args); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	result := extenderv1.ExtenderBindingResult{}
	err := e.c.Admin.CoreV1().Pods(args.PodNamespace).Bind(context.Background(), &v1.Binding{
		ObjectMeta: metav1.ObjectMeta{Name: args.PodName, Namespace: args.PodNamespace, UID: types.UID(args.PodUID)},
		Target:     v1.ObjectReference{Kind: "Node", Name: args.Node},
	}, metav1.CreateOptions{})
	if err != nil {
		result.Error = err.Error()
	}
	e.mutex.Lock()
	e.bound[args.PodName] = args.Node
	e.mutex.Unlock()
	json.NewEncoder(w).Encode(result)
}

func inMode(mode string) func(*v1.Pod) {
	return func(pod *v1.Pod) { pod.Labels["mode"] = mode }
}

func annotated(key, value string) func(*v1.Pod) {
	return func(pod *v1.Pod) { pod.Annotations[key] = value }
}

func waitMessage(t *testing.T, c *harness.ControlPlane, pod, reason, part string) {
	t.Helper()
	harness.Eventually(t, 30*time.Second, pod+" says why it waits", func() error {
		condition := harness.Condition(c.Pod(t, pod), v1.PodScheduled)
		if condition == nil || condition.Status != v1.ConditionFalse || condition.Reason != reason || !strings.Contains(condition.Message, part) {
			return fmt.Errorf("condition %+v", condition)
		}
		return nil
	})
}

// An extender that behaves: nodes are filtered and rated, pods come whole, and one without interest is not asked.
func TestExtenderFiltersAndRates(t *testing.T) {
	for _, byName := range []bool{true, false} {
		t.Run(fmt.Sprintf("nodeCacheCapable=%v", byName), func(t *testing.T) {
			harness.OnBothServers(t, harness.Options{}, func(t *testing.T, c *harness.ControlPlane) { filtersAndRates(t, c, byName) })
		})
	}
}

func filtersAndRates(t *testing.T, c *harness.ControlPlane, byName bool) {
	c.CreateNodes(t, 4, "8", "64Gi", func(node *v1.Node) { node.Annotations = map[string]string{"rack": "r1"} })
	e := startExtender(t, c, true)
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: e.Certificate().Raw})
	file := c.Logs + "/extender.crt"
	harness.WriteFile(t, file, authority)
	c.StartScheduler(t, harness.SchedulerOptions{Configuration: fmt.Sprintf(`extenders:
- urlPrefix: %s/outside/
  filterVerb: filter
  prioritizeVerb: prioritize
  weight: 100
  enableHTTPS: true
  tlsConfig: {caFile: %s, serverName: example.com}
  nodeCacheCapable: %v
`, e.URL, file, byName)}).WaitReady(t)

	secret := func(pod *v1.Pod) {
		pod.Spec.Containers[0].Env = []v1.EnvVar{{Name: "COLOUR", Value: "blue"}}
	}
	c.CreatePod(t, harness.MakePod("chosen", "1", annotated("node", "node-2"), secret))
	c.CreatePod(t, harness.MakePod("preferring", "1", annotated("prefers", "node-3")))
	c.CreatePod(t, harness.MakePod("nowhere", "1", annotated("node", "node-9")))
	for pod, want := range map[string]string{"chosen": "node-2", "preferring": "node-3"} {
		if err := wantEqual("node of "+pod, c.WaitPodBound(t, pod, 30*time.Second), want); err != nil {
			t.Error(err)
		}
	}
	waitMessage(t, c, "nowhere", "Unschedulable", "0/4 nodes are available: 4 no licence.")

	args := e.seen("chosen")
	if env := args.Pod.Spec.Containers[0].Env; len(env) != 1 || env[0].Value != "blue" {
		t.Errorf("the extender was not shown the whole pod: %v", args.Pod.Spec.Containers[0])
	}
	if len(args.Pod.ManagedFields) != 0 {
		t.Error("the extender was shown managed fields")
	}
	if !byName && args.Nodes.Items[0].Annotations["rack"] != "r1" {
		t.Errorf("the extender was not shown the whole node: %v", args.Nodes.Items[0].ObjectMeta)
	}
	checkNothingRefused(t, c)
}

// Whatever an extender does wrong, its pods say so and wait, other pods are bound, and once it behaves all are bound.
func TestExtenderMisbehaves(t *testing.T) {
	harness.OnBothServers(t, harness.Options{}, extenderMisbehaves)
}

func extenderMisbehaves(t *testing.T, c *harness.ControlPlane) {
	c.CreateNodes(t, 4, "16", "64Gi")
	e := startExtender(t, c, false)
	scheduler := c.StartScheduler(t, harness.SchedulerOptions{Configuration: fmt.Sprintf(`extenders:
- urlPrefix: %s/outside
  filterVerb: filter
  nodeCacheCapable: true
  httpTimeout: 1s
`, e.URL)})
	scheduler.WaitReady(t)
	messages := map[string]string{
		"fails":      fmt.Sprintf("failed filter with extender at URL %s/outside/filter, code 500", e.URL),
		"garbage":    "",
		"empty":      "EOF",
		"torn":       "",
		"oversized":  "",
		"unknown":    fmt.Sprintf(`extender "%s/outside" claims a filtered node "node-of-dreams" which is not found in the input node list`, e.URL),
		"says-error": "the licence server is down",
		"late":       "",
	}
	for mode := range messages {
		c.CreatePod(t, harness.MakePod("pod-"+mode, "1", inMode(mode)))
	}
	for mode, message := range messages {
		waitMessage(t, c, "pod-"+mode, "SchedulerError", message)
	}
	c.CreatePods(t, "fine", 10, "1")
	harness.Eventually(t, time.Minute, "pods that the extender likes are bound", func() error {
		bound := 0
		for _, pod := range c.Pods(t) {
			if strings.HasPrefix(pod.Name, "fine") && pod.Spec.NodeName != "" {
				bound++
			}
		}
		return wantEqual("bound", bound, 10)
	})
	for mode := range messages {
		if node := c.Pod(t, "pod-"+mode).Spec.NodeName; node != "" {
			t.Errorf("pod-%s is on %s", mode, node)
		}
	}
	resident, err := scheduler.Resident()
	if err != nil || resident > 600 {
		t.Errorf("the scheduler has %d MiB in memory, %v", resident, err)
	}
	e.heal()
	c.WaitBound(t, 10+len(messages), time.Minute)
	c.CheckNoOvercommit(t)
}

// The failures of an ignorable extender stop nobody.
func TestExtenderIgnorable(t *testing.T) {
	harness.OnBothServers(t, harness.Options{}, extenderIgnorable)
}

func extenderIgnorable(t *testing.T, c *harness.ControlPlane) {
	c.CreateNodes(t, 4, "16", "64Gi")
	e := startExtender(t, c, false)
	c.StartScheduler(t, harness.SchedulerOptions{Configuration: fmt.Sprintf(`extenders:
- urlPrefix: %s/outside
  filterVerb: filter
  bindVerb: missing
  httpTimeout: 1s
  ignorable: true
`, e.URL)}).WaitReady(t)
	for _, mode := range []string{"fails", "garbage", "empty", "torn", "unknown", "says-error", "late"} {
		c.CreatePod(t, harness.MakePod("pod-"+mode, "1", inMode(mode)))
	}
	c.WaitBound(t, 7, time.Minute)
	c.CheckBoundOnce(t, false)
}

// An extender binds pods and has its say about victims.
func TestExtenderBindsAndPreempts(t *testing.T) {
	harness.OnBothServers(t, harness.Options{}, extenderBindsAndPreempts)
}

func extenderBindsAndPreempts(t *testing.T, c *harness.ControlPlane) {
	c.StartKubelets(t)
	c.CreateNodes(t, 3, "2", "64Gi")
	e := startExtender(t, c, false)
	c.StartScheduler(t, harness.SchedulerOptions{Configuration: fmt.Sprintf(`extenders:
- urlPrefix: %s/outside
  preemptVerb: preempt
  bindVerb: bind
  nodeCacheCapable: true
`, e.URL)}).WaitReady(t)
	low, high := createPriority(t, c, "low", 10), createPriority(t, c, "high", 1000)
	c.CreatePods(t, "low", 6, "1", low)
	c.WaitBound(t, 6, time.Minute)
	e.mutex.Lock()
	if err := wantEqual("pods that the extender bound", len(e.bound), 6); err != nil {
		t.Error(err)
	}
	e.mutex.Unlock()
	if bindings := c.Requests(t, func(r harness.Request) bool {
		return r.User == harness.SchedulerUser && r.Resource == "pods/binding"
	}); len(bindings) != 0 {
		t.Errorf("berth bound pods itself: %v", bindings)
	}
	c.CreatePod(t, harness.MakePod("important", "1", high, annotated("node", "node-1")))
	if err := wantEqual("node of the important pod", c.WaitPodBound(t, "important", time.Minute), "node-1"); err != nil {
		t.Error(err)
	}
	// One that the extender gives no node.
	c.CreatePod(t, harness.MakePod("unwanted", "1", high))
	waitMessage(t, c, "unwanted", "Unschedulable", "preemption: no candidate node for preemption")
	victims := c.Requests(t, func(r harness.Request) bool {
		return r.User == harness.SchedulerUser && r.Verb == "delete" && r.Resource == "pods" && r.Successful()
	})
	if err := wantEqual("deletions", len(victims), 1); err != nil {
		t.Errorf("%v: %v", err, victims)
	}
	c.CheckNoOvercommit(t)
}
