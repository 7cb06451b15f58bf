package scenarios

import (
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"berth/e2e/harness"
)

// page is what one scheduler answers to one request.
type page struct {
	Code                           int
	Type, Cache, Sniffing, Warning string
	Body                           string
}

// pageRequest is what both schedulers are asked.
type pageRequest struct {
	method, path, accept, body string
}

func (r pageRequest) String() string {
	text := r.method + " " + r.path
	if r.accept != "" {
		text += " as " + r.accept
	}
	if r.body != "" {
		text += " with " + r.body
	}
	return text
}

func fetchPage(t *testing.T, port int, wanted pageRequest) page {
	t.Helper()
	request, err := http.NewRequest(wanted.method, fmt.Sprintf("https://127.0.0.1:%d%s", port, wanted.path), strings.NewReader(wanted.body))
	if err != nil {
		t.Fatal(err)
	}
	if wanted.accept != "" {
		request.Header.Set("Accept", wanted.accept)
	}
	client := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}}
	answer, err := client.Do(request)
	if err != nil {
		t.Fatalf("%v: %v", wanted, err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatalf("%v: %v", wanted, err)
	}
	return page{answer.StatusCode, answer.Header.Get("Content-Type"), answer.Header.Get("Cache-Control"),
		answer.Header.Get("X-Content-Type-Options"), answer.Header.Get("Warning"), string(body)}
}

const structured = "application/json;v=v1beta1;g=config.k8s.io;as="

// Answers that are the same to the letter.
var samePages = []pageRequest{
	{"GET", "/healthz", "", ""}, {"GET", "/livez", "", ""}, {"GET", "/readyz", "", ""},
	{"GET", "/healthz?verbose", "", ""}, {"GET", "/livez?verbose", "", ""}, {"GET", "/readyz?verbose", "", ""},
	{"GET", "/healthz?verbose=false", "", ""}, {"GET", "/healthz/", "", ""},
	{"GET", "/readyz?verbose&exclude=shutdown", "", ""}, {"GET", "/readyz?exclude=nothing&verbose", "", ""},
	{"GET", "/readyz?exclude=nothing", "", ""}, {"GET", "/readyz?exclude=a&exclude=b&verbose", "", ""},
	{"GET", "/healthz/leaderElection", "", ""}, {"GET", "/healthz/ping", "", ""}, {"GET", "/livez/ping", "", ""},
	{"GET", "/readyz/shutdown", "", ""}, {"GET", "/readyz/sched-handler-sync", "", ""}, {"GET", "/readyz/leaderElection", "", ""},
	{"GET", "/readyz/nothing", "", ""}, {"GET", "/livez/leaderElection", "", ""},
	{"POST", "/healthz", "", ""}, {"HEAD", "/healthz", "", ""},
	{"GET", "/", "", ""}, {"GET", "/nothing", "", ""}, {"GET", "/metrics/nothing", "", ""}, {"GET", "/debug", "", ""},
	{"GET", "/debug/flags/v", "", ""}, {"PUT", "/debug/flags/v", "", "x"}, {"PUT", "/debug/flags/v", "", "0"}, {"PUT", "/debug/flags/v", "", ""},
	{"DELETE", "/metrics", "", ""}, {"DELETE", "/metrics/slis", "", ""}, {"DELETE", "/metrics/resources", "", ""},
	{"GET", "/flagz", "application/json", ""}, {"GET", "/statusz", "application/json", ""},
	{"GET", "/flagz", "text/html", ""}, {"GET", "/statusz", "image/png", ""},
	{"GET", "/statusz", "application/json;v=v2;g=config.k8s.io;as=Statusz", ""},
	{"GET", "/flagz", "application/json;v=v1beta1;g=config.k8s.io", ""},
	{"GET", "/flagz", "application/json;v=v1beta1;g=other.k8s.io;as=Flagz", ""},
	{"POST", "/flagz", "", ""}, {"POST", "/statusz", "", ""}, {"POST", "/configz", "", ""},
}

// Answers of which everything but the body is the same, and of the body what describeBody leaves.
var similarPages = []pageRequest{
	{"GET", "/configz", "", ""}, {"GET", "/metrics", "", ""}, {"GET", "/metrics/slis", "", ""}, {"GET", "/metrics/resources", "", ""},
	{"GET", "/flagz", "", ""}, {"GET", "/flagz", "text/plain", ""}, {"GET", "/flagz", "*/*", ""},
	{"GET", "/flagz", "application/xml, text/plain;q=0.5", ""},
	{"GET", "/statusz", "", ""}, {"GET", "/statusz", "text/plain", ""}, {"GET", "/statusz", "*/*", ""},
	{"GET", "/flagz", structured + "Flagz", ""}, {"GET", "/statusz", structured + "Statusz", ""},
	{"GET", "/flagz", "application/yaml;v=v1beta1;g=config.k8s.io;as=Flagz", ""},
	{"GET", "/statusz", "application/yaml;v=v1beta1;g=config.k8s.io;as=Statusz", ""},
	{"GET", "/flagz", "application/json;v=v1alpha1;g=config.k8s.io;as=Flagz", ""},
	{"GET", "/statusz", "application/json;v=v1alpha1;g=config.k8s.io;as=Statusz", ""},
}

// keysOf lists the keys of a JSON document with their depth, so that documents can be compared without their values.
func keysOf(value any, path string, into map[string]bool) {
	switch value := value.(type) {
	case map[string]any:
		for key, inner := range value {
			keysOf(inner, path+"."+key, into)
		}
	case []any:
		for _, inner := range value {
			keysOf(inner, path+"[]", into)
		}
	default:
		into[path] = true
	}
}

var nameOfLine = regexp.MustCompile(`^\s*([A-Za-z][A-Za-z0-9 _-]*)[=:]`)

// describeBody is what of a page is the same for both: the keys of JSON, the names of lines, the heading.
func describeBody(wanted pageRequest, body string) string {
	if strings.HasPrefix(wanted.path, "/metrics") {
		return ""
	}
	var document any
	if json.Unmarshal([]byte(body), &document) == nil {
		keys := map[string]bool{}
		keysOf(document, "", keys)
		for key := range keys {
			if isOwnFlag(strings.TrimPrefix(key, ".flags.")) {
				delete(keys, key)
			}
		}
		return strings.Join(slices.Sorted(maps.Keys(keys)), "\n")
	}
	var lines []string
	for _, line := range strings.Split(body, "\n") {
		if name := nameOfLine.FindStringSubmatch(line); name != nil {
			line = name[1]
		}
		if !isOwnFlag(line) {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

// isOwnFlag is for flags that kube-scheduler does not have.
func isOwnFlag(name string) bool { return name == "tracing-config-file" }

// Probes, boards and people who look at the pages of a scheduler see the same.
func TestPagesAreThoseOfKubeScheduler(t *testing.T) {
	all := slices.Concat(samePages, similarPages)
	shown := map[string][]page{}
	refused := map[string]page{}
	for _, name := range []string{"kube", "berth"} {
		t.Run(name, func(t *testing.T) {
			c := harness.StartControlPlane(t, harness.Options{})
			c.CreateNodes(t, 1, "4", "8Gi")
			kubeconfig := c.SchedulerKubeconfig(t, c.Port)
			port := harness.FreePort(t)
			program, arguments := harness.BerthBinary(), []string{"scheduler"}
			if name == "kube" {
				program, arguments = harness.Binary("kube-scheduler"), nil
			}
			arguments = append(arguments, "--kubeconfig="+kubeconfig, "--authentication-kubeconfig="+kubeconfig,
				"--authorization-kubeconfig="+kubeconfig, "--bind-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", port),
				"--authorization-always-allow-paths=/h*,/l*,/r*,/m*,/d*,/f*,/s*,/configz,/,/nothing")
			scheduler := &harness.Scheduler{Process: harness.StartProcess(t, c.Logs, name, program, arguments), Port: port}
			scheduler.WaitReady(t)
			c.CreatePod(t, harness.MakePod("pod", "1"))
			c.WaitPodBound(t, "pod", 30*time.Second)
			for _, request := range all {
				shown[name] = append(shown[name], fetchPage(t, port, request))
			}
			refused[name] = fetchPage(t, port, pageRequest{"GET", "/closed", "", ""})
		})
	}
	if len(shown["kube"]) != len(all) || len(shown["berth"]) != len(all) {
		t.Fatal("one of them has not been asked")
	}
	for at, request := range all {
		theirs, ours := shown["kube"][at], shown["berth"][at]
		if at >= len(samePages) {
			theirs.Body, ours.Body = describeBody(request, theirs.Body), describeBody(request, ours.Body)
		}
		if theirs != ours {
			t.Errorf("%v:\nkube  %q\nberth %q", request, fmt.Sprintf("%+v", theirs), fmt.Sprintf("%+v", ours))
		}
	}
	if refused["kube"] != refused["berth"] {
		t.Errorf("refused:\nkube  %q\nberth %q", fmt.Sprintf("%+v", refused["kube"]), fmt.Sprintf("%+v", refused["berth"]))
	}
}
