package scenarios

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"text/template"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kube-openapi/pkg/validation/strfmt"
	"k8s.io/kube-openapi/pkg/validation/validate"
	"sigs.k8s.io/yaml"

	"berth/e2e/harness"
)

const chartFolder = "deploy/helm/berth"

// chartPath is a file of the chart. The tests run from anywhere; the program that is tried tells where the project is.
func chartPath(t *testing.T, name string) string {
	t.Helper()
	root := os.Getenv("BERTH_E2E_LOGS")
	for range 6 {
		root = filepath.Dir(root)
		if _, err := os.Stat(filepath.Join(root, chartFolder, "Chart.yaml")); err == nil {
			return filepath.Join(root, chartFolder, name)
		}
	}
	t.Fatal("the chart is not above the folder of the logs")
	return ""
}

func readYAML(t *testing.T, text []byte) map[string]any {
	t.Helper()
	into := map[string]any{}
	if err := yaml.UnmarshalStrict(text, &into); err != nil {
		t.Fatal(err)
	}
	return into
}

// merge puts the second map over the first, as helm does with -f.
func merge(into, from map[string]any) {
	for key, value := range from {
		below, isMap := value.(map[string]any)
		old, wasMap := into[key].(map[string]any)
		if isMap && wasMap {
			merge(old, below)
		} else {
			into[key] = value
		}
	}
}

// renderChart does what `helm template` does, with the functions that the chart uses and no others.
func renderChart(t *testing.T, values map[string]any) []string {
	t.Helper()
	root := template.New("chart").Option("missingkey=zero")
	indent := func(count int, text string) string {
		return strings.ReplaceAll(text, "\n", "\n"+strings.Repeat(" ", count))
	}
	root.Funcs(template.FuncMap{
		"include": func(name string, data any) (string, error) {
			var out bytes.Buffer
			err := root.ExecuteTemplate(&out, name, data)
			return out.String(), err
		},
		"toYaml": func(value any) (string, error) {
			out, err := yaml.Marshal(value)
			return strings.TrimSuffix(string(out), "\n"), err
		},
		"nindent": func(count int, text string) string { return "\n" + strings.Repeat(" ", count) + indent(count, text) },
		"default": func(fallback, value any) any {
			if value == nil || value == "" {
				return fallback
			}
			return value
		},
		"quote":      func(value any) string { return fmt.Sprintf("%q", fmt.Sprint(value)) },
		"trunc":      func(length int, text string) string { return text[:min(length, len(text))] },
		"trimSuffix": func(suffix, text string) string { return strings.TrimSuffix(text, suffix) },
		"contains":   func(part, text string) bool { return strings.Contains(text, part) },
		"list":       func(items ...any) []any { return items },
		"append":     func(items []any, item any) []any { return append(items, item) },
		"join": func(separator string, items []any) string {
			texts := []string{}
			for _, item := range items {
				texts = append(texts, fmt.Sprint(item))
			}
			return strings.Join(texts, separator)
		},
	})
	files, err := filepath.Glob(filepath.Join(chartPath(t, "templates"), "*"))
	if err != nil || len(files) < 8 {
		t.Fatalf("%d templates, %v", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := root.New(filepath.Base(file)).Parse(string(text)); err != nil {
			t.Fatal(err)
		}
	}
	chart := readYAML(t, readFile(t, chartPath(t, "Chart.yaml")))
	data := map[string]any{
		"Values":  values,
		"Release": map[string]any{"Name": "try", "Namespace": "kube-system", "Service": "Helm"},
		"Chart":   map[string]any{"Name": chart["name"], "Version": chart["version"], "AppVersion": chart["appVersion"]},
	}
	var documents []string
	for _, file := range files {
		if filepath.Ext(file) == ".tpl" {
			continue
		}
		var out bytes.Buffer
		if err := root.ExecuteTemplate(&out, filepath.Base(file), data); err != nil {
			t.Fatal(err)
		}
		if filepath.Ext(file) != ".yaml" {
			continue
		}
		for _, document := range strings.Split(out.String(), "\n---") {
			if strings.TrimSpace(document) != "" {
				documents = append(documents, document)
			}
		}
	}
	return documents
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// checkValues says what the chart's schema has against values.
func checkValues(t *testing.T, values map[string]any) error {
	t.Helper()
	var described spec.Schema
	if err := json.Unmarshal(readFile(t, chartPath(t, "values.schema.json")), &described); err != nil {
		t.Fatal(err)
	}
	// Numbers as JSON has them.
	text, _ := json.Marshal(values)
	var plain any
	_ = json.Unmarshal(text, &plain)
	return validate.NewSchemaValidator(&described, nil, "", strfmt.Default).Validate(plain).AsError()
}

const allOn = `
global: {imagePullSecrets: [{name: pull}]}
replicaCount: 3
image: {registry: registry.example.com, digest: "sha256:0000000000000000000000000000000000000000000000000000000000000000"}
featureGates: {SchedulerPopFromBackoffQ: false, OpportunisticBatching: true}
extraArgs: [--v=2]
extraEnv: [{name: A, value: b}]
tracing: {enabled: true, endpoint: "collector:4318", samplingRatePerMillion: 5}
serviceAccount: {annotations: {a: b}}
prometheus: {servicemonitor: {enabled: true, labels: {release: prometheus}}}
podAnnotations: {a: b}
podLabels: {c: d}
deploymentAnnotations: {e: f}
tolerations: [{key: node-role.kubernetes.io/control-plane, operator: Exists, effect: NoSchedule}]
affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: Exists}]}]}}}
topologySpreadConstraints: [{maxSkew: 1, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: DoNotSchedule}]
hostNetwork: true
volumes: [{name: extra, emptyDir: {}}]
volumeMounts: [{name: extra, mountPath: /extra}]
`

// The chart's manifests are ones that a real server takes, and berth takes the files in them.
func TestHelmChart(t *testing.T) {
	c := harness.StartControlPlane(t, harness.Options{})
	config, err := clientcmd.BuildConfigFromFlags("", c.AdminKubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	plurals := map[string]string{
		"ConfigMap": "configmaps", "ServiceAccount": "serviceaccounts", "ClusterRoleBinding": "clusterrolebindings", "RoleBinding": "rolebindings",
		"Role": "roles", "Deployment": "deployments", "PodDisruptionBudget": "poddisruptionbudgets", "Service": "services",
	}
	for name, change := range map[string]string{"default": "{}", "everything": allOn} {
		t.Run(name, func(t *testing.T) {
			values := readYAML(t, readFile(t, chartPath(t, "values.yaml")))
			merge(values, readYAML(t, []byte(change)))
			if err := checkValues(t, values); err != nil {
				t.Errorf("the schema refuses the values: %v", err)
			}
			kinds := map[string]int{}
			for _, document := range renderChart(t, values) {
				object := &unstructured.Unstructured{Object: readYAML(t, []byte(document))}
				kinds[object.GetKind()]++
				if object.GetKind() == "ServiceMonitor" {
					continue // not a kind of Kubernetes
				}
				group, err := schema.ParseGroupVersion(object.GetAPIVersion())
				if err != nil {
					t.Fatal(err)
				}
				resource := group.WithResource(plurals[object.GetKind()])
				options := metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}, FieldValidation: metav1.FieldValidationStrict}
				var creator dynamic.ResourceInterface = client.Resource(resource)
				if object.GetNamespace() != "" {
					creator = client.Resource(resource).Namespace(object.GetNamespace())
				}
				if _, err := creator.Create(context.Background(), object, options); err != nil {
					t.Errorf("%s %s: %v\n%s", object.GetKind(), object.GetName(), err, document)
				}
				if object.GetKind() == "ConfigMap" {
					text, _, _ := unstructured.NestedString(object.Object, "data", "config.yaml")
					file := filepath.Join(t.TempDir(), "config.yaml")
					harness.WriteFile(t, file, []byte(text))
					if out, err := exec.Command(harness.BerthBinary(), "config", "check", file).CombinedOutput(); err != nil {
						t.Errorf("the configuration is wrong: %s", out)
					}
				}
			}
			want := map[string]int{"ConfigMap": 1, "ServiceAccount": 1, "ClusterRoleBinding": 2, "RoleBinding": 2, "Role": 1, "Deployment": 1, "PodDisruptionBudget": 1, "Service": 1}
			if name == "everything" {
				want["ServiceMonitor"] = 1
			}
			if fmt.Sprint(kinds) != fmt.Sprint(want) {
				t.Errorf("kinds %v, want %v", kinds, want)
			}
		})
	}
	for _, wrong := range []string{"replicaCount: many", "imagePullPolicy: Always", "image: {pullPolicy: Sometimes}", "config: {kind: x}", "extraArgs: [v=2]", "tracing: {samplingRatePerMillion: -1}"} {
		values := readYAML(t, readFile(t, chartPath(t, "values.yaml")))
		merge(values, readYAML(t, []byte(wrong)))
		if checkValues(t, values) == nil {
			t.Errorf("the schema accepts %s", wrong)
		}
	}
}
