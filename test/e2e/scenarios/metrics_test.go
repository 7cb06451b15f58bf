package scenarios

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth/e2e/harness"
)

// What only a program in Go, or one that is made of Kubernetes' own libraries, can have. Everything else that
// kube-scheduler shows, berth shows too. docs/differences.md says the same to users.
var notInBerth = []string{
	// The runtime of Go, and HTTP/2.
	"go_",
	// Libraries of the API server and of client-go that berth has no counterpart of.
	"aggregator_", "apiserver_", "informer_", "workqueue_", "rest_client_exec_plugin_", "rest_client_transport_",
	"cardinality_enforcement_", "registered_metrics_total",
	// There is no batching: every decision looks at all nodes.
	"scheduler_batch_", "scheduler_get_node_hint_", "scheduler_store_schedule_results_",
}

// A page and the name of a metric on it.
func isNotInBerth(key string) bool {
	_, name, _ := strings.Cut(key, " ")
	return slices.ContainsFunc(notInBerth, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

// parseMetrics reads an exposition with Prometheus' own parser.
func parseMetrics(t *testing.T, who, text string) map[string]*dto.MetricFamily {
	t.Helper()
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(text))
	if err != nil {
		t.Fatalf("the metrics of %s cannot be parsed: %v", who, err)
	}
	if len(families) == 0 {
		t.Fatalf("%s shows no metrics", who)
	}
	return families
}

// stability is the [BETA] in front of a help text.
func stability(family *dto.MetricFamily) string {
	help := family.GetHelp()
	if end := strings.IndexByte(help, ']'); strings.HasPrefix(help, "[") && end > 0 {
		return help[:end+1]
	}
	return ""
}

func labelsOf(family *dto.MetricFamily) string {
	names := map[string]bool{}
	for _, metric := range family.GetMetric() {
		for _, label := range metric.GetLabel() {
			names[label.GetName()] = true
		}
	}
	return strings.Join(slices.Sorted(maps.Keys(names)), ",")
}

func bucketsOf(family *dto.MetricFamily) string {
	if family.GetType() != dto.MetricType_HISTOGRAM || len(family.GetMetric()) == 0 {
		return ""
	}
	var bounds []string
	for _, bucket := range family.GetMetric()[0].GetHistogram().GetBucket() {
		bounds = append(bounds, fmt.Sprint(bucket.GetUpperBound()))
	}
	return strings.Join(bounds, " ")
}

func describe(family *dto.MetricFamily) string {
	return fmt.Sprintf("%s %s labels(%s) buckets(%s)", family.GetType(), stability(family), labelsOf(family), bucketsOf(family))
}

// metricsWorkload is what both schedulers get to do: pods that are bound at once, one that waits for a node, one
// that is held by a gate, one that evicts others, and one that never fits.
func metricsWorkload(t *testing.T, c *harness.ControlPlane, name string) {
	t.Helper()
	c.StartKubelets(t)
	c.CreateNodes(t, 3, "4", "8Gi")
	high := createPriority(t, c, "high-"+name, 1000)
	c.CreatePods(t, name, 9, "1", labelled("app", name))
	c.WaitBound(t, 9, 30*time.Second)
	c.CreatePod(t, harness.MakePod(name+"-never", "100"))
	c.CreatePod(t, harness.MakePod(name+"-urgent", "3", high))
	c.WaitPodBound(t, name+"-urgent", 60*time.Second)
	c.CreatePod(t, harness.MakePod(name+"-later", "20"))
	c.InParallel(t, 1, func(int) error {
		_, err := c.Admin.CoreV1().Nodes().Create(context.Background(), harness.MakeNode("large", "32", "8Gi"), metav1.CreateOptions{})
		return err
	})
	c.WaitPodBound(t, name+"-later", 60*time.Second)
}

// A scraper, a board and an alert see the same from both schedulers.
func TestMetricsAreThoseOfKubeScheduler(t *testing.T) {
	shown := map[string]map[string]*dto.MetricFamily{}
	allow := "--authorization-always-allow-paths=/healthz,/readyz,/livez,/metrics,/metrics/resources,/metrics/slis"
	for _, name := range []string{"kube", "berth"} {
		t.Run(name, func(t *testing.T) {
			c := harness.StartControlPlane(t, harness.Options{})
			kubeconfig := c.SchedulerKubeconfig(t, c.Port)
			port := harness.FreePort(t)
			program, arguments := harness.BerthBinary(), []string{"scheduler"}
			if name == "kube" {
				program, arguments = harness.Binary("kube-scheduler"), nil
			}
			arguments = append(arguments, "--kubeconfig="+kubeconfig, "--authentication-kubeconfig="+kubeconfig,
				"--authorization-kubeconfig="+kubeconfig, "--bind-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", port), allow,
				"--feature-gates=SchedulerAsyncAPICalls=true")
			scheduler := &harness.Scheduler{Process: harness.StartProcess(t, c.Logs, name, program, arguments), Port: port}
			scheduler.WaitReady(t)
			metricsWorkload(t, c, name)
			time.Sleep(2 * time.Second) // kube-scheduler counts some things once a second
			shown[name] = map[string]*dto.MetricFamily{}
			for _, path := range []string{"/metrics", "/metrics/resources", "/metrics/slis"} {
				code, text, err := scheduler.Get(path)
				if err != nil || code != 200 {
					t.Fatalf("%s of %s: %d %v", path, name, code, err)
				}
				file := "metrics-" + name + strings.ReplaceAll(path, "/", "-") + ".txt"
				harness.WriteFile(t, filepath.Join(os.Getenv("BERTH_E2E_LOGS"), file), []byte(text))
				for family, content := range parseMetrics(t, name, text) {
					shown[name][path+" "+family] = content
				}
			}
		})
	}
	real, ours := shown["kube"], shown["berth"]
	if len(real) == 0 || len(ours) == 0 {
		t.Fatal("one of them has not been asked")
	}
	var report []string
	for _, name := range slices.Sorted(maps.Keys(real)) {
		mine, found := ours[name]
		switch {
		case !found && isNotInBerth(name):
			report = append(report, "left out "+name)
		case !found:
			report = append(report, "missing "+name+": "+describe(real[name]))
			t.Errorf("missing: %s %s", name, describe(real[name]))
		case describe(mine) != describe(real[name]):
			report = append(report, "differs "+name+": "+describe(mine)+", want "+describe(real[name]))
			t.Errorf("%s: %s, want %s", name, describe(mine), describe(real[name]))
		}
	}
	for name := range ours {
		_, bare, _ := strings.Cut(name, " ")
		if _, found := real[name]; !found && !strings.HasPrefix(bare, "berth_") && !slices.Contains(knownElsewhere, bare) {
			report = append(report, "extra "+name)
			t.Errorf("%s is not kube-scheduler's, and its name does not start with berth_", name)
		}
	}
	for _, difference := range gateDifferences(real["/metrics kubernetes_feature_enabled"], ours["/metrics kubernetes_feature_enabled"]) {
		report = append(report, difference)
		t.Error(difference)
	}
	sort.Strings(report)
	_ = os.WriteFile(filepath.Join(os.Getenv("BERTH_E2E_LOGS"), "metrics.txt"), []byte(strings.Join(report, "\n")+"\n"), 0o644)
}

// Gates that berth turns on though kube-scheduler does not, and one that kube-scheduler does not know yet.
var ownGates = []string{"SchedulerPreQueueingHints", "SchedulerPreEnqueuePodStatus"}

// gateDifferences compares every gate with its stage and whether it is on.
func gateDifferences(theirs, ours *dto.MetricFamily) []string {
	states := func(family *dto.MetricFamily) map[string]float64 {
		found := map[string]float64{}
		for _, metric := range family.GetMetric() {
			labels := map[string]string{}
			for _, label := range metric.GetLabel() {
				labels[label.GetName()] = label.GetValue()
			}
			if !slices.Contains(ownGates, labels["name"]) {
				found[labels["name"]+" "+labels["stage"]] = metric.GetGauge().GetValue()
			}
		}
		return found
	}
	wanted, have := states(theirs), states(ours)
	var differences []string
	if len(wanted) == 0 {
		differences = append(differences, "kube-scheduler shows no gates")
	}
	for gate, state := range wanted {
		if got, found := have[gate]; !found || got != state {
			differences = append(differences, fmt.Sprintf("gate %s is %v (shown: %v), want %v", gate, got, found, state))
		}
	}
	for gate := range have {
		if _, found := wanted[gate]; !found {
			differences = append(differences, fmt.Sprintf("gate %s is shown, and kube-scheduler does not have it", gate))
		}
	}
	return differences
}

// Metrics of kube-scheduler that this workload does not make it show, because it counts them in other cases
// only: with these gates off, after an error, or for pods that waited.
var knownElsewhere = []string{
	"scheduler_pre_queueing_hint_evaluations_total",
}
