package scenarios

import (
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
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
	if wanted.body == badToken {
		request.Header.Set("Authorization", badToken)
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
	{"GET", "/debug/flags", "", ""}, {"GET", "/debug/flags/", "", ""}, {"PUT", "/debug/flags/v", "", "-1"}, {"PUT", "/debug/flags/v", "", "5000000000"},
	{"GET", "/debug/flags/v", "", ""}, {"PUT", "/debug/flags/v", "", "x"}, {"PUT", "/debug/flags/v", "", "0"}, {"PUT", "/debug/flags/v", "", ""},
	{"DELETE", "/metrics", "", ""}, {"DELETE", "/metrics/slis", "", ""}, {"DELETE", "/metrics/resources", "", ""},
	{"GET", "/flagz", "application/json", ""}, {"GET", "/statusz", "application/json", ""},
	{"GET", "/flagz", "text/html", ""}, {"GET", "/statusz", "image/png", ""},
	{"GET", "/statusz", "application/json;v=v2;g=config.k8s.io;as=Statusz", ""},
	{"GET", "/flagz", "application/json;v=v1beta1;g=config.k8s.io", ""},
	{"GET", "/flagz", "application/json;v=v1beta1;g=other.k8s.io;as=Flagz", ""},
}

// Answers to somebody who may not ask; one has a token that is not good.
var refusedPages = []pageRequest{{"GET", "/closed", "", ""}, {"POST", "/closed?x=1", "", ""}, {"GET", "/healthz", "", badToken}}

const badToken = "Bearer made-up"

// Answers of which everything but the body is the same, and of the body what describeBody leaves.
var similarPages = []pageRequest{
	{"POST", "/flagz", "", ""}, {"POST", "/statusz", "", ""}, {"POST", "/configz", "", ""},
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

// Values that depend on where a scheduler runs, or on what it is made of.
var ownValues = []string{"kubeconfig", "authentication-kubeconfig", "authorization-kubeconfig", "secure-port", "startTime", "uptimeSeconds", "goVersion"}

// normalised is a JSON document with the same text wherever it means the same.
func normalised(value any) any {
	object, ok := value.(map[string]any)
	if !ok {
		return value
	}
	delete(object, "tracing-config-file") // berth's own flag
	for key, inner := range object {
		if slices.Contains(ownValues, key) {
			inner = "..."
		}
		object[key] = normalised(inner)
	}
	return object
}

// The names of lines where nothing but blanks sets them apart.
var nameBeforeBlanks = regexp.MustCompile(`^(Started|Up|Go version|Binary version|Emulation version|Paths|v|help|[a-z0-9]+-[a-z0-9-]+|config|kubeconfig|master|profiling|version|vmodule)\b`)

var nameOfLine = regexp.MustCompile(`^\s*([A-Za-z][A-Za-z0-9 _-]*)[=:]`)

// describeBody is what of a page is the same for both: JSON but for a few values, the names of lines, the heading. Names
// and values are set apart by what kube-scheduler draws by lot.
func describeBody(wanted pageRequest, body string) string {
	if strings.HasPrefix(wanted.path, "/metrics") {
		return ""
	}
	var document any
	if json.Unmarshal([]byte(body), &document) == nil {
		text, _ := json.MarshalIndent(normalised(document), "", " ")
		return string(text)
	}
	var lines []string
	for _, line := range strings.Split(body, "\n") {
		if name := nameBeforeBlanks.FindString(line); name != "" && !strings.HasPrefix(line, "kube-scheduler ") {
			line = name
		} else if name := nameOfLine.FindStringSubmatch(line); name != nil {
			line = name[1]
		}
		if !strings.HasPrefix(line, "tracing-config-file") {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

// firstDifference is where two texts part, with a little around.
func firstDifference(theirs, ours string) string {
	at := 0
	for at < len(theirs) && at < len(ours) && theirs[at] == ours[at] {
		at++
	}
	show := func(text string) string {
		return fmt.Sprintf("%q", text[max(0, min(at, len(text))-80):min(len(text), at+200)])
	}
	return "\nkube  " + show(theirs) + "\nberth " + show(ours)
}

// Probes, boards and people who look at the pages of a scheduler see the same.
func TestPagesAreThoseOfKubeScheduler(t *testing.T) {
	all := slices.Concat(samePages, similarPages)
	shown := map[string][]page{}
	refused := map[string][]page{}
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
			for _, request := range refusedPages {
				refused[name] = append(refused[name], fetchPage(t, port, request))
			}
		})
	}
	if len(shown["kube"]) != len(all) || len(shown["berth"]) != len(all) {
		t.Fatal("one of them has not been asked")
	}
	compare := func(request pageRequest, theirs, ours page) {
		// berth sends this header with every answer.
		theirs.Sniffing = ours.Sniffing
		if theirs != ours {
			t.Errorf("%v: %s", request, firstDifference(fmt.Sprintf("%+v", theirs), fmt.Sprintf("%+v", ours)))
		}
	}
	for at, request := range all {
		theirs, ours := shown["kube"][at], shown["berth"][at]
		if at >= len(samePages) {
			theirs.Body, ours.Body = describeBody(request, theirs.Body), describeBody(request, ours.Body)
		}
		compare(request, theirs, ours)
	}
	for at, request := range refusedPages {
		compare(request, refused["kube"][at], refused["berth"][at])
	}
}
