package scenarios

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"berth/e2e/harness"
)

// A step is one request that goes to both servers.
type step struct {
	method string
	path   string // with its query
	body   string
	kind   string // content type; JSON if empty
	accept string
	// edit makes the body from the object that the path shows now, for updates.
	edit func(map[string]any)
	// watch reads this many events instead of a whole answer.
	watch int
}

func (s step) String() string {
	text := s.method + " " + s.path
	if s.kind != "" {
		text += " (" + s.kind + ")"
	}
	if s.body != "" {
		text += " " + s.body
	}
	return text
}

const (
	jsonPatch      = "application/json-patch+json"
	mergePatch     = "application/merge-patch+json"
	strategicPatch = "application/strategic-merge-patch+json"
	applyPatch     = "application/apply-patch+yaml"
	asTable        = "application/json;as=Table;v=v1;g=meta.k8s.io"
)

// server is one of the two.
type server struct {
	name   string
	host   string
	client *http.Client
}

func newServer(t *testing.T, name string, config *rest.Config) *server {
	t.Helper()
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	client.Timeout = 20 * time.Second
	return &server{name, strings.TrimSuffix(config.Host, "/"), client}
}

// do sends a step and gives the code, the normalised body, and the warnings that came with it.
func (s *server) do(t *testing.T, one step) (int, string, string) {
	t.Helper()
	body := one.body
	if one.edit != nil {
		_, text, _ := s.send(t, step{method: "GET", path: strings.Split(one.path, "?")[0]})
		var object map[string]any
		if err := json.Unmarshal([]byte(text), &object); err != nil {
			return 0, "nothing to edit: " + text, ""
		}
		one.edit(object)
		edited, err := json.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		body = string(edited)
	}
	one.body = body
	code, text, warnings := s.send(t, one)
	return code, normalise(text), warnings
}

func (s *server) send(t *testing.T, one step) (int, string, string) {
	t.Helper()
	request, err := http.NewRequest(one.method, s.host+one.path, bytes.NewBufferString(one.body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Accept", "application/json")
	if one.accept != "" {
		request.Header.Set("Accept", one.accept)
	}
	if one.body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	if one.kind != "" {
		request.Header.Set("Content-Type", one.kind)
	}
	answer, err := s.client.Do(request)
	if err != nil {
		return 0, err.Error(), ""
	}
	defer answer.Body.Close()
	warnings := strings.Join(answer.Header.Values("Warning"), "\n")
	if one.watch > 0 {
		var events []string
		decoder := json.NewDecoder(answer.Body)
		for len(events) < one.watch {
			var event json.RawMessage
			if err := decoder.Decode(&event); err != nil {
				events = append(events, `"`+err.Error()+`"`)
				break
			}
			events = append(events, string(event))
		}
		return answer.StatusCode, "[" + strings.Join(events, ",") + "]", warnings
	}
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return 0, err.Error(), ""
	}
	return answer.StatusCode, string(text), warnings
}

// What no two servers have in common.
var (
	uid        = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	timestamp  = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`)
	generated  = regexp.MustCompile(`generated-[a-z0-9]{5}`)
	precedence = regexp.MustCompile(`Precondition failed: UID in precondition: [^,]*, UID in object meta: `)
	age        = regexp.MustCompile(`"\d+[smh]"`)
	// Where in its own source a server made its table of kinds: it depends on how that was built.
	scheme = regexp.MustCompile(`in scheme \\"[^"\\]*\\"`)
)

func normalise(text string) string {
	text = generated.ReplaceAllString(timestamp.ReplaceAllString(uid.ReplaceAllString(text, "UID"), "TIME"), "generated-NAME")
	text = scheme.ReplaceAllString(text, "in scheme SCHEME")
	text = age.ReplaceAllString(precedence.ReplaceAllString(text, "Precondition failed: "), `"AGE"`)
	var document any
	if err := json.Unmarshal([]byte(text), &document); err != nil {
		return text
	}
	clean(document)
	pretty, _ := json.MarshalIndent(document, "", " ")
	return string(pretty)
}

// A description that is a PriorityClass's own is no column's.
func isText(object map[string]any, key string) bool {
	_, isColumn := object["priority"]
	return key == "description" && !isColumn
}

func clean(value any) {
	switch value := value.(type) {
	case map[string]any:
		for key, inner := range value {
			switch {
			case key == "finalizers":
				if list, isList := inner.([]any); isList && len(list) == 1 && tolerated[fmt.Sprint(list[0])] != "" {
					delete(value, key)
				}
			case key == "resourceVersion" || key == "continue" || key == "remainingItemCount":
				if inner != "" {
					value[key] = "X"
				}
			case tolerated[key] != "" && !isText(value, key):
				delete(value, key)
			}
			clean(inner)
		}
	case []any:
		for _, inner := range value {
			clean(inner)
		}
	}
}

// difference is what differs, by path, or nothing.
func difference(real, ours string) string {
	if real == ours {
		return ""
	}
	var a, b any
	if json.Unmarshal([]byte(real), &a) != nil || json.Unmarshal([]byte(ours), &b) != nil {
		return fmt.Sprintf("  real: %s\n  ours: %s\n", real, ours)
	}
	left, right := map[string]string{}, map[string]string{}
	flatten("", a, left)
	flatten("", b, right)
	var text strings.Builder
	for _, path := range slices.Sorted(maps.Keys(left)) {
		if value, found := right[path]; !found {
			fmt.Fprintf(&text, "  real only: %s = %s\n", path, left[path])
		} else if value != left[path] {
			fmt.Fprintf(&text, "  %s\n    real: %s\n    ours: %s\n", path, left[path], value)
		}
	}
	for _, path := range slices.Sorted(maps.Keys(right)) {
		if _, found := left[path]; !found {
			fmt.Fprintf(&text, "  ours only: %s = %s\n", path, right[path])
		}
	}
	return text.String()
}

// flatten lists the leaves of a document by their paths.
func flatten(path string, value any, into map[string]string) {
	switch value := value.(type) {
	case map[string]any:
		for key, inner := range value {
			flatten(path+"."+key, inner, into)
		}
		if len(value) == 0 {
			into[path] = "{}"
		}
	case []any:
		for i, inner := range value {
			flatten(fmt.Sprintf("%s[%d]", path, i), inner, into)
		}
		if len(value) == 0 {
			into[path] = "[]"
		}
	default:
		text, _ := json.Marshal(value)
		into[path] = string(text)
	}
}

// The same requests to the real kube-apiserver and to the sandbox: the same codes, reasons, causes and objects.
func TestDifferentialSandbox(t *testing.T) {
	c := harness.StartControlPlane(t, harness.Options{})
	s := harness.StartSandbox(t, "--no-scheduler", "--no-controllers", "--no-kubelet")
	real, ours := newServer(t, "real", c.AdminConfig), newServer(t, "sandbox", s.Config)

	report, err := os.Create(filepath.Join(os.Getenv("BERTH_E2E_LOGS"), "differences.txt"))
	if err != nil {
		t.Fatal(err)
	}
	defer report.Close()
	steps := differentialSteps()
	different := 0
	used := make([]bool, len(toleratedAnswers))
	for _, one := range steps {
		realCode, realBody, realWarnings := real.do(t, one)
		ourCode, ourBody, ourWarnings := ours.do(t, one)
		text := difference(realBody, ourBody)
		if realWarnings != ourWarnings {
			text += fmt.Sprintf("  warnings\n    real: %s\n    ours: %s\n", realWarnings, ourWarnings)
		}
		if realCode == ourCode && text == "" {
			continue
		}
		if at := slices.IndexFunc(toleratedAnswers, func(answer toleratedAnswer) bool { return answer.request.MatchString(one.String()) }); at >= 0 && realCode == ourCode {
			t.Logf("%s: tolerated: %s", one, toleratedAnswers[at].reason)
			used[at] = true
			continue
		}
		different++
		fmt.Fprintf(report, "%s\n  codes: real %d, ours %d\n%s\n", one, realCode, ourCode, text)
		t.Errorf("%s: codes: real %d, ours %d\n%s", one, realCode, ourCode, text)
	}
	t.Logf("%d requests, %d answered otherwise", len(steps), different)
	if len(steps) < 300 {
		t.Errorf("only %d requests", len(steps))
	}
	for i, answer := range toleratedAnswers {
		if !used[i] {
			t.Errorf("%s is tolerated, and answered alike", answer.request)
		}
	}
}

// tolerated are fields, and values of fields, that the sandbox leaves out on purpose. They are compared nowhere.
var tolerated = map[string]string{
	"managedFields":                "kept only for objects that were applied: they are most of an object's size, and nothing else reads them",
	"kubernetes.io/pvc-protection": "the sandbox has no protection controllers that would remove it",
	"kubernetes.io/pv-protection":  "the same",
	"description":                  "the columns of tables are not described: no client shows it",
}

// toleratedAnswers are requests whose answers differ in their text on purpose. Their codes must be the same.
type toleratedAnswer struct {
	request *regexp.Regexp
	reason  string
}

var toleratedAnswers = []toleratedAnswer{
	{regexp.MustCompile(`^PATCH .*/pods/a \(.*"(nodeName|resources)":`), "the refusal ends with a diff of Go's structs, which are not ours"},
	{regexp.MustCompile(`^PATCH .*/deployments/d\?fieldManager=one `), "without managedFields, which are tolerated above, the conflict is with before-first-apply"},
	{regexp.MustCompile(`^DELETE .*/persistentvolume(claim)?s/pvc?\?dryRun=All`), "without the finalizers, which are tolerated above, nothing holds the object"},
}
