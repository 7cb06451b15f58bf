package scenarios

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth/e2e/harness"
)

const webManifest = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: server
        image: web:1
        resources: {requests: {cpu: 100m, memory: 64Mi}}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web}
spec:
  minAvailable: 3
  selector: {matchLabels: {app: web}}
`

// kubectlCase is a command and what must be in its answer.
type kubectlCase struct {
	input     string
	editor    string // for edit: a command that changes the file behind it
	arguments string
	code      int
	out       []string // in the output
	err       []string // in the errors
}

// The everyday verbs of the real kubectl on the sandbox.
func TestSandboxWithKubectl(t *testing.T) {
	s := harness.StartSandbox(t, "--nodes", "3")
	checkKubectl(t, s.Kubeconfig)
	checkKubectlWatch(t, s.Kubeconfig, s.Logs)
}

// The same on a real control plane: what is expected of the sandbox is what a real server does.
func TestKubectlExpectationsOnTheRealServer(t *testing.T) {
	c := harness.StartControlPlane(t, harness.Options{Controllers: []string{
		"deployment-controller", "replicaset-controller", "disruption-controller", "garbage-collector-controller", "namespace-controller",
	}})
	c.StartKubelets(t)
	for i := range 3 {
		if _, err := c.Admin.CoreV1().Nodes().Create(context.Background(), harness.MakeNode(fmt.Sprintf("node-%d", i+1), "8", "32Gi"), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	c.StartScheduler(t, harness.SchedulerOptions{}).WaitReady(t)
	checkKubectl(t, c.AdminKubeconfig())
	checkKubectlWatch(t, c.AdminKubeconfig(), c.Logs)
}

func checkKubectl(t *testing.T, kubeconfig string) {
	t.Helper()
	run := func(one kubectlCase) {
		t.Helper()
		got := harness.RunKubectlWithEditor(t, kubeconfig, time.Minute, one.editor, one.input, splitArguments(one.arguments)...)
		if got.Code != one.code {
			t.Errorf("kubectl %s: exit code %d, want %d\n%s%s", one.arguments, got.Code, one.code, got.Out, got.Err)
			return
		}
		for _, want := range one.out {
			if !strings.Contains(got.Out, want) {
				t.Errorf("kubectl %s: no %q in\n%s", one.arguments, want, got.Out)
			}
		}
		for _, want := range one.err {
			if !strings.Contains(got.Err, want) {
				t.Errorf("kubectl %s: no %q in the errors\n%s", one.arguments, want, got.Err)
			}
		}
	}
	for _, one := range []kubectlCase{
		{arguments: "version", out: []string{"Client Version: v1.37", "Server Version: v1.37"}},
		{arguments: "api-resources", out: []string{"pods", "deployments", "apps/v1", "poddisruptionbudgets", "leases"}},
		{arguments: "api-versions", out: []string{"v1\n", "apps/v1\n", "resource.k8s.io/v1\n"}},
		{arguments: "explain pod.spec", out: []string{"KIND:       Pod", "nodeName", "tolerations", "<[]Toleration>"}},
		{arguments: "explain deployment.spec.strategy.rollingUpdate", out: []string{"maxSurge", "maxUnavailable"}},
		{arguments: "get nodes", out: []string{"NAME", "STATUS", "ROLES", "AGE", "VERSION", "Ready"}},
		{input: webManifest, arguments: "apply -f -", out: []string{"deployment.apps/web created", "poddisruptionbudget.policy/web created"}},
		{arguments: "rollout status deployment/web --timeout=30s", out: []string{`deployment "web" successfully rolled out`}},
		{input: webManifest, arguments: "apply -f -", out: []string{"deployment.apps/web unchanged", "poddisruptionbudget.policy/web configured"}},
		{input: strings.Replace(webManifest, "replicas: 3", "replicas: 4", 1), arguments: "diff -f -", code: 1, out: []string{"-  replicas: 3", "+  replicas: 4"}},
		{arguments: "get pods", out: []string{"READY", "1/1", "Running", "RESTARTS"}},
		{arguments: "get pods -o wide", out: []string{"NOMINATED NODE", "READINESS GATES"}},
		{arguments: "get pods -o name", out: []string{"pod/web-"}},
		{arguments: "get deployment web -o yaml", out: []string{"apiVersion: apps/v1", "kind: Deployment", "availableReplicas: 3"}},
		{arguments: "get deployment web -o json", out: []string{`"kind": "Deployment"`}},
		{arguments: "get deployment web -o jsonpath={.spec.replicas}", out: []string{"3"}},
		{arguments: "get deployment web -o go-template={{.metadata.name}}", out: []string{"web"}},
		{arguments: "get pods -o custom-columns=NAME:.metadata.name,NODE:.spec.nodeName", out: []string{"NAME", "NODE", "node-"}},
		{arguments: "get pods -l app=web --field-selector status.phase=Running --sort-by=.metadata.name --no-headers", out: []string{"web-"}},
		{arguments: "get pods -A --show-labels", out: []string{"LABELS", "app=web"}},
		{arguments: "get all", out: []string{"deployment.apps/web", "replicaset.apps/web"}},
		{arguments: "describe deployment web", out: []string{"Replicas:", "3 desired | 3 updated | 3 total | 3 available", "StrategyType:           RollingUpdate"}},
		{arguments: "describe pod -l app=web", out: []string{"Controlled By:  ReplicaSet/web-", "PodScheduled"}},
		{arguments: "describe node node-3", out: []string{"Allocatable:", "Non-terminated Pods:", "Allocated resources:"}},
		{arguments: "events", out: []string{"Scheduled", "ScalingReplicaSet"}},
		{arguments: "get events --field-selector reason=Scheduled", out: []string{"Successfully assigned"}},
		{arguments: "create configmap settings --from-literal=a=1", out: []string{"configmap/settings created"}},
		{arguments: "create namespace other", out: []string{"namespace/other created"}},
		{arguments: "create deployment api --image=api:1 --replicas=2", out: []string{"deployment.apps/api created"}},
		{arguments: "create deployment api --image=api:1", code: 1, err: []string{`error: failed to create deployment: deployments.apps "api" already exists`}},
		{arguments: "create namespace other", code: 1, err: []string{`Error from server (AlreadyExists): namespaces "other" already exists`}},
		{arguments: "wait deployment/api --for=condition=Available --timeout=30s", out: []string{"condition met"}},
		{arguments: "scale deployment api --replicas=4", out: []string{"deployment.apps/api scaled"}},
		{arguments: "rollout status deployment/api --timeout=30s", out: []string{"successfully rolled out"}},
		{arguments: "set image deployment/api api=api:2", out: []string{"image updated"}},
		{arguments: "rollout status deployment/api --timeout=40s", out: []string{"successfully rolled out"}},
		{arguments: "rollout history deployment/api", out: []string{"REVISION", "1", "2"}},
		{arguments: "rollout undo deployment/api", out: []string{"rolled back"}},
		{arguments: "label pods -l app=web tier=front", out: []string{"labeled"}},
		{arguments: "annotate deployment web note=hello", out: []string{"annotated"}},
		{arguments: "edit deployment web", editor: "sed -i s/hello/edited/", out: []string{"deployment.apps/web edited"}},
		{arguments: "get deployment web -o jsonpath={.metadata.annotations.note}", out: []string{"edited"}},
		{arguments: "edit deployment web", editor: "true", err: []string{"Edit cancelled, no changes made."}},
		{arguments: "edit deployment web", editor: "sed -i 's/replicas: 3$/replicas: -3/'", code: 1,
			err: []string{`error: deployments.apps "web" is invalid`, "Edit cancelled, no valid changes were saved."}},
		{arguments: "label deployment web app=other", code: 1, err: []string{"already has a value (web), and --overwrite is false"}},
		{arguments: `patch deployment web -p {"spec":{"minReadySeconds":1}}`, out: []string{"deployment.apps/web patched"}},
		{arguments: `patch deployment web --type=merge -p {"spec":{"minReadySeconds":2}}`, out: []string{"deployment.apps/web patched"}},
		{arguments: `patch deployment web --type=json -p [{"op":"replace","path":"/spec/minReadySeconds","value":0}]`, out: []string{"deployment.apps/web patched"}},
		{arguments: `patch deployment web --type=json -p [{"op":"test","path":"/spec/replicas","value":77}]`, code: 1, err: []string{"the server rejected our request due to an error in our request"}},
		{arguments: "taint node node-2 dedicated=x:NoSchedule", out: []string{"node/node-2 tainted"}},
		{arguments: "taint node node-2 dedicated-", out: []string{"node/node-2 untainted"}},
		{arguments: "cordon node-3", out: []string{"node/node-3 cordoned"}},
		{arguments: "get node node-3", out: []string{"Ready,SchedulingDisabled"}},
		{arguments: "drain node-3 --timeout=4s --pod-selector=app=web", code: 1, err: []string{"Cannot evict pod as it would violate the pod's disruption budget."}},
		{arguments: `patch pdb web --type=merge -p {"spec":{"minAvailable":1}}`, out: []string{"patched"}},
		{arguments: "drain node-3 --timeout=40s --ignore-daemonsets", out: []string{"node/node-3 drained"}},
		{arguments: "uncordon node-3", out: []string{"node/node-3 uncordoned"}},
		{arguments: "top nodes", code: 1, err: []string{"Metrics API not available"}},
		{arguments: "auth can-i create pods", out: []string{"yes"}},
		{arguments: "auth whoami", out: []string{"Username"}},
		{input: strings.Replace(webManifest, "replicas: 3", "replicaz: 3", 1), arguments: "apply -f -", code: 1, err: []string{`unknown field "spec.replicaz"`}},
		{input: strings.Replace(webManifest, "replicas: 3", "replicas: -3", 1), arguments: "apply -f -", code: 1, err: []string{`The Deployment "web" is invalid: spec.replicas: Invalid value: -3: must be greater than or equal to 0`}},
		{input: "apiVersion: v1\nkind: Pod\nmetadata: {name: Wrong_Name}\nspec: {containers: [{name: a, image: b}]}\n", arguments: "create -f -", code: 1,
			err: []string{`The Pod "Wrong_Name" is invalid: metadata.name: Invalid value: "Wrong_Name": a lowercase RFC 1123 subdomain must consist of`}},
		{input: "apiVersion: v1\nkind: Nothing\nmetadata: {name: a}\n", arguments: "create -f -", code: 1, err: []string{`no matches for kind "Nothing" in version "v1"`}},
		{arguments: `patch deployment web --type=merge --field-manager=somebody -p {"spec":{"replicas":2}}`, out: []string{"patched"}},
		{input: webManifest, arguments: "apply --server-side -f -", code: 1, err: []string{`Apply failed with 1 conflict: conflict with "somebody"`, ".spec.replicas"}},
		{input: webManifest, arguments: "apply --server-side --force-conflicts -f -", out: []string{"serverside-applied"}},
		{arguments: "get pod nothing", code: 1, err: []string{`Error from server (NotFound): pods "nothing" not found`}},
		{arguments: "delete deployment api", out: []string{`deployment.apps "api" deleted`}},
		{arguments: "wait pod -l app=api --for=delete --timeout=30s"},
		{arguments: "run one --image=x --restart=Never", out: []string{"pod/one created"}},
		{arguments: "wait pod/one --for=condition=Ready --timeout=20s", out: []string{"condition met"}},
		{arguments: "describe pod one", out: []string{"Running", "Successfully assigned default/one to node-"}},
		{arguments: "delete pod one --now", out: []string{`pod "one" deleted`}},
		{arguments: "run two --image=x --restart=Never", out: []string{"pod/two created"}},
		{arguments: "delete pod two --force --grace-period=0", out: []string{`pod "two" force deleted`}},
		{arguments: "delete namespace other --timeout=30s", out: []string{`namespace "other" deleted`}},
	} {
		run(one)
	}
}

// checkKubectlWatch follows pods with `kubectl get -w` while one comes, runs and goes.
func checkKubectlWatch(t *testing.T, kubeconfig, logs string) {
	t.Helper()
	watch := harness.StartProcess(t, logs, "kubectl-watch", harness.Binary("kubectl"),
		[]string{"--kubeconfig", kubeconfig, "get", "pods", "-w", "--output-watch-events"})
	shows := func(what ...string) {
		t.Helper()
		harness.Eventually(t, 30*time.Second, "the watch shows "+strings.Join(what, " "), func() error {
			for _, line := range strings.Split(watch.Log(), "\n") {
				if fields := strings.Fields(line); len(fields) > 3 && slices.Equal([]string{fields[0], fields[1], fields[3]}, what) {
					return nil
				}
			}
			return errors.New(watch.Log())
		})
	}
	must := func(arguments string) {
		t.Helper()
		if got := harness.RunKubectl(t, kubeconfig, time.Minute, "", splitArguments(arguments)...); got.Code != 0 {
			t.Errorf("kubectl %s: exit code %d\n%s%s", arguments, got.Code, got.Out, got.Err)
		}
	}
	harness.Eventually(t, 30*time.Second, "the watch shows what is there", func() error {
		if !strings.Contains(watch.Log(), "ADDED      web-") {
			return errors.New(watch.Log())
		}
		return nil
	})
	must("run watched --image=x --restart=Never")
	shows("ADDED", "watched", "Pending")
	shows("MODIFIED", "watched", "Running")
	must("delete pod watched --now")
	harness.Eventually(t, 30*time.Second, "the watch shows that it is gone", func() error {
		if !strings.Contains(watch.Log(), "DELETED") {
			return errors.New(watch.Log())
		}
		return nil
	})
	watch.Stop()
}

// splitArguments splits at blanks; the patches above have none.
func splitArguments(text string) []string { return strings.Fields(text) }

// The real kube-scheduler works on the sandbox with nothing but its kubeconfig.
func TestSandboxWithKubeScheduler(t *testing.T) {
	s := harness.StartSandbox(t, "--nodes", "100", "--no-scheduler")
	s.StartKubeScheduler(t)
	for i := range 1000 {
		if _, err := s.Client.CoreV1().Pods(harness.Namespace).Create(context.Background(), harness.MakePod(fmt.Sprintf("pod-%d", i), "100m"), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	harness.Eventually(t, 2*time.Minute, "all pods run", func() error {
		pods, err := s.Client.CoreV1().Pods(harness.Namespace).List(context.Background(), metav1.ListOptions{FieldSelector: "status.phase=Running"})
		if err != nil {
			return err
		}
		return wantEqual("running pods", len(pods.Items), 1000)
	})
}

// The real kube-controller-manager rolls out a Deployment and runs a Job on the sandbox, with its own controllers off.
func TestSandboxWithKubeControllerManager(t *testing.T) {
	s := harness.StartSandbox(t, "--nodes", "5", "--no-controllers")
	controllers := s.StartControllers(t, "deployment-controller", "replicaset-controller", "job-controller", "disruption-controller",
		"garbage-collector-controller", "namespace-controller")
	_ = controllers
	must := func(input string, arguments string) {
		t.Helper()
		if got := s.Kubectl(t, input, splitArguments(arguments)...); got.Code != 0 {
			t.Fatalf("kubectl %s: %d\n%s%s", arguments, got.Code, got.Out, got.Err)
		}
	}
	must(webManifest, "apply -f -")
	must("", "rollout status deployment/web --timeout=50s")
	must("", "set image deployment/web server=web:2")
	must("", "rollout status deployment/web --timeout=50s")
	must("", "create job count --image=x -- true")
	must("", "wait job/count --for=condition=Complete --timeout=50s")
	must("", "delete deployment web --cascade=foreground --timeout=40s")
	harness.Eventually(t, 30*time.Second, "the pods of the Deployment are gone", func() error {
		pods, err := s.Client.CoreV1().Pods(harness.Namespace).List(context.Background(), metav1.ListOptions{LabelSelector: "app=web"})
		if err != nil {
			return err
		}
		return wantEqual("pods", len(pods.Items), 0)
	})
}
