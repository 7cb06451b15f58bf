package scenarios

import (
	"fmt"
	"strings"
)

// A kind, an object of it, and a change of it for each way of changing.
type differentialKind struct {
	collection string // its path
	name       string
	object     string // JSON
	merge      string // a valid change
	invalid    string // an object that must be refused
}

func metadata(name string) string {
	return fmt.Sprintf(`"metadata":{"name":%q,"labels":{"app":"x","tier":"a"},"annotations":{"note":"1"}}`, name)
}

const (
	namespaced   = "/api/v1/namespaces/default/"
	podTemplate  = `"template":{"metadata":{"labels":{"app":"x"}},"spec":{"containers":[{"name":"c","image":"i"}]}}`
	simplePod    = `"spec":{"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"100m","memory":"64Mi"}}}]}`
	appsV1       = "/apis/apps/v1/namespaces/default/"
	resourceV1   = "/apis/resource.k8s.io/v1/"
	storageV1    = "/apis/storage.k8s.io/v1/"
	schedulingV1 = "/apis/scheduling.k8s.io/v1/"
)

func differentialKinds() []differentialKind {
	return []differentialKind{
		{namespaced + "pods", "a", `{"apiVersion":"v1","kind":"Pod",` + metadata("a") + `,` + simplePod + `}`,
			`{"spec":{"activeDeadlineSeconds":100}}`, `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"bad"},"spec":{"containers":[]}}`},
		{"/api/v1/nodes", "n", `{"apiVersion":"v1","kind":"Node",` + metadata("n") + `,"status":{"capacity":{"cpu":"4","pods":"110"},"allocatable":{"cpu":"4","pods":"110"}}}`,
			`{"spec":{"unschedulable":true}}`, `{"apiVersion":"v1","kind":"Node","metadata":{"name":"bad"},"spec":{"taints":[{"key":"a","effect":"Wrong"}]}}`},
		{"/api/v1/namespaces", "ns", `{"apiVersion":"v1","kind":"Namespace",` + metadata("ns") + `}`,
			`{"metadata":{"labels":{"tier":"b"}}}`, `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"Bad"}}`},
		{namespaced + "configmaps", "cm", `{"apiVersion":"v1","kind":"ConfigMap",` + metadata("cm") + `,"data":{"a":"1"}}`,
			`{"data":{"a":"2"}}`, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"bad"},"data":{"wrong key":"1"}}`},
		{namespaced + "persistentvolumeclaims", "pvc", `{"apiVersion":"v1","kind":"PersistentVolumeClaim",` + metadata("pvc") + `,"spec":{"accessModes":["ReadWriteOnce"],"storageClassName":"s","resources":{"requests":{"storage":"1Gi"}}}}`,
			`{"metadata":{"labels":{"tier":"b"}}}`, `{"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":"bad"},"spec":{"accessModes":[],"resources":{"requests":{"storage":"1Gi"}}}}`},
		{"/api/v1/persistentvolumes", "pv", `{"apiVersion":"v1","kind":"PersistentVolume",` + metadata("pv") + `,"spec":{"accessModes":["ReadWriteOnce"],"capacity":{"storage":"1Gi"},"storageClassName":"s","hostPath":{"path":"/tmp"}}}`,
			`{"spec":{"persistentVolumeReclaimPolicy":"Delete"}}`, `{"apiVersion":"v1","kind":"PersistentVolume","metadata":{"name":"bad"},"spec":{"accessModes":["ReadWriteOnce"],"hostPath":{"path":"/tmp"}}}`},
		{appsV1 + "deployments", "d", `{"apiVersion":"apps/v1","kind":"Deployment",` + metadata("d") + `,"spec":{"replicas":2,"selector":{"matchLabels":{"app":"x"}},` + podTemplate + `}}`,
			`{"spec":{"replicas":3}}`, `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"bad"},"spec":{"selector":{"matchLabels":{"app":"y"}},` + podTemplate + `}}`},
		{appsV1 + "replicasets", "rs", `{"apiVersion":"apps/v1","kind":"ReplicaSet",` + metadata("rs") + `,"spec":{"replicas":2,"selector":{"matchLabels":{"app":"x"}},` + podTemplate + `}}`,
			`{"spec":{"replicas":3}}`, `{"apiVersion":"apps/v1","kind":"ReplicaSet","metadata":{"name":"bad"},"spec":{"replicas":-1,"selector":{"matchLabels":{"app":"x"}},` + podTemplate + `}}`},
		{appsV1 + "statefulsets", "ss", `{"apiVersion":"apps/v1","kind":"StatefulSet",` + metadata("ss") + `,"spec":{"serviceName":"s","replicas":2,"selector":{"matchLabels":{"app":"x"}},` + podTemplate + `}}`,
			`{"spec":{"replicas":3}}`, `{"apiVersion":"apps/v1","kind":"StatefulSet","metadata":{"name":"bad"},"spec":{"serviceName":"s","selector":{"matchLabels":{"app":"y"}},` + podTemplate + `}}`},
		{"/apis/batch/v1/namespaces/default/jobs", "j", `{"apiVersion":"batch/v1","kind":"Job",` + metadata("j") + `,"spec":{"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}}`,
			`{"spec":{"parallelism":2}}`, `{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"bad"},"spec":{"template":{"spec":{"restartPolicy":"Always","containers":[{"name":"c","image":"i"}]}}}}`},
		{"/apis/policy/v1/namespaces/default/poddisruptionbudgets", "pdb", `{"apiVersion":"policy/v1","kind":"PodDisruptionBudget",` + metadata("pdb") + `,"spec":{"minAvailable":1,"selector":{"matchLabels":{"app":"x"}}}}`,
			`{"spec":{"minAvailable":2}}`, `{"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{"name":"bad"},"spec":{"minAvailable":1,"maxUnavailable":1}}`},
		{storageV1 + "storageclasses", "sc", `{"apiVersion":"storage.k8s.io/v1","kind":"StorageClass",` + metadata("sc") + `,"provisioner":"p"}`,
			`{"allowVolumeExpansion":true}`, `{"apiVersion":"storage.k8s.io/v1","kind":"StorageClass","metadata":{"name":"bad"},"provisioner":""}`},
		{storageV1 + "csinodes", "cn", `{"apiVersion":"storage.k8s.io/v1","kind":"CSINode",` + metadata("cn") + `,"spec":{"drivers":[{"name":"d","nodeID":"n","allocatable":{"count":3}}]}}`,
			`{"metadata":{"labels":{"tier":"b"}}}`, `{"apiVersion":"storage.k8s.io/v1","kind":"CSINode","metadata":{"name":"bad"},"spec":{"drivers":[{"name":"d","nodeID":""}]}}`},
		{schedulingV1 + "priorityclasses", "pc", `{"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass",` + metadata("pc") + `,"value":10}`,
			`{"description":"d"}`, `{"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{"name":"bad"},"value":2000000000}`},
		{resourceV1 + "deviceclasses", "dc", `{"apiVersion":"resource.k8s.io/v1","kind":"DeviceClass",` + metadata("dc") + `,"spec":{"selectors":[{"cel":{"expression":"device.driver == \"d\""}}]}}`,
			`{"metadata":{"labels":{"tier":"b"}}}`, `{"apiVersion":"resource.k8s.io/v1","kind":"DeviceClass","metadata":{"name":"bad"},"spec":{"selectors":[{}]}}`},
		{resourceV1 + "namespaces/default/resourceclaims", "rc", `{"apiVersion":"resource.k8s.io/v1","kind":"ResourceClaim",` + metadata("rc") + `,"spec":{"devices":{"requests":[{"name":"r","exactly":{"deviceClassName":"dc"}}]}}}`,
			`{"metadata":{"labels":{"tier":"b"}}}`, `{"apiVersion":"resource.k8s.io/v1","kind":"ResourceClaim","metadata":{"name":"bad"},"spec":{"devices":{"requests":[{"name":"r","exactly":{"deviceClassName":""}}]}}}`},
		{"/apis/coordination.k8s.io/v1/namespaces/default/leases", "l", `{"apiVersion":"coordination.k8s.io/v1","kind":"Lease",` + metadata("l") + `,"spec":{"holderIdentity":"me","leaseDurationSeconds":15}}`,
			`{"spec":{"holderIdentity":"you"}}`, `{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"bad"},"spec":{"leaseDurationSeconds":-1}}`},
	}
}

// Everything that is done with an object of any kind, in an order in which each step finds what it needs.
func stepsOf(kind differentialKind) []step {
	at := kind.collection + "/" + kind.name
	relabel := func(value string) func(map[string]any) {
		return func(object map[string]any) {
			object["metadata"].(map[string]any)["labels"] = map[string]any{"app": "x", "tier": value}
		}
	}
	return []step{
		{method: "GET", path: at},
		{method: "POST", path: kind.collection + "?dryRun=All", body: kind.object},
		{method: "GET", path: at},
		// Dry, so that a server which takes it does not answer otherwise from there on.
		{method: "POST", path: kind.collection + "?dryRun=All", body: kind.invalid},
		{method: "POST", path: kind.collection, body: kind.object},
		{method: "POST", path: kind.collection, body: kind.object},
		{method: "GET", path: at},
		{method: "GET", path: at, accept: asTable},
		{method: "GET", path: kind.collection + "?labelSelector=app%3Dx"},
		{method: "GET", path: kind.collection + "?labelSelector=app%21%3Dx%2Ctier"},
		{method: "GET", path: kind.collection + "?labelSelector=tier+in+%28a%2Cb%29"},
		{method: "GET", path: kind.collection + "?labelSelector=%3D%3D"},
		{method: "GET", path: kind.collection + "?fieldSelector=metadata.name%3D" + kind.name},
		{method: "GET", path: kind.collection + "?fieldSelector=spec.nothing%3Da"},
		{method: "GET", path: kind.collection + "?labelSelector=app%3Dx&limit=1"},
		{method: "GET", path: kind.collection + "?resourceVersion=wrong"},
		{method: "GET", path: kind.collection + "?watch=true&labelSelector=app%3Dx&resourceVersion=0&timeoutSeconds=5", watch: 1},
		{method: "PATCH", path: at, body: kind.merge, kind: mergePatch},
		{method: "PATCH", path: at, body: `{"metadata":{"annotations":{"note":"2"}}}`, kind: strategicPatch},
		{method: "PATCH", path: at, body: `[{"op":"replace","path":"/metadata/annotations/note","value":"3"}]`, kind: jsonPatch},
		{method: "PATCH", path: at, body: `[{"op":"test","path":"/metadata/annotations/note","value":"9"}]`, kind: jsonPatch},
		{method: "PATCH", path: at, body: `{"metadata":{"resourceVersion":"1"}}`, kind: mergePatch},
		{method: "PATCH", path: at, body: `{"metadata":`, kind: mergePatch},
		{method: "PATCH", path: at, body: `{}`, kind: "text/plain"},
		{method: "PATCH", path: kind.collection + "/nothing", body: `{}`, kind: mergePatch},
		{method: "PUT", path: at, edit: relabel("c")},
		{method: "PUT", path: at, edit: func(object map[string]any) { object["metadata"].(map[string]any)["resourceVersion"] = "1" }},
		{method: "PUT", path: at, edit: func(object map[string]any) { object["metadata"].(map[string]any)["name"] = "other" }},
		{method: "PUT", path: at + "?dryRun=All", edit: relabel("d")},
		{method: "PUT", path: at + "?dryRun=Some", edit: relabel("d")},
		{method: "GET", path: at},
		{method: "DELETE", path: at, body: `{"kind":"DeleteOptions","apiVersion":"v1","preconditions":{"uid":"00000000-0000-0000-0000-000000000000"}}`},
		{method: "DELETE", path: at + "?dryRun=All"},
		{method: "GET", path: at},
	}
}

// badPods are pods that must be refused, each for a reason of its own.
func badPods() []string {
	specs := []string{
		`{"containers":[{"name":"c"}]}`,
		`{"containers":[{"name":"C","image":"i"}]}`,
		`{"containers":[{"name":"c","image":"i"},{"name":"c","image":"i"}]}`,
		`{"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"2"},"limits":{"cpu":"1"}}}]}`,
		`{"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"-1"}}}]}`,
		`{"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"many"}}}]}`,
		`{"containers":[{"name":"c","image":"i","resources":{"requests":{"example.com/gpu":"1"}}}]}`,
		`{"containers":[{"name":"c","image":"i","ports":[{"containerPort":70000}]}]}`,
		`{"containers":[{"name":"c","image":"i","ports":[{"containerPort":80,"hostPort":80},{"containerPort":81,"hostPort":80}]}]}`,
		`{"containers":[{"name":"c","image":"i","imagePullPolicy":"Sometimes"}]}`,
		`{"containers":[{"name":"a.b","image":"i"}]}`,
		`{"containers":[{"name":"c","image":"i","ports":[{"hostPort":80}]}]}`,
		`{"containers":[{"name":"c","image":"i","ports":[{"containerPort":80,"name":"80"}]}]}`,
		`{"containers":[{"name":"c","image":"i","ports":[{"containerPort":80,"name":"abcdefghijklmnop"}]}]}`,
		`{"containers":[{"name":"c","image":"i","ports":[{"containerPort":80,"protocol":"IPX"}]}]}`,
		`{"containers":[{"name":"c","image":"i","resources":{"limits":{"example.com/gpu":"500m"}}}]}`,
		`{"containers":[{"name":"c","image":"i","resources":{"requests":{"example.com/gpu":"1"},"limits":{"example.com/gpu":"2"}}}]}`,
		`{"containers":[{"name":"c","image":"i","resources":{"limits":{"hugepages-2Mi":"2Mi"}}}]}`,
		`{"containers":[{"name":"c","image":"i","resources":{"limits":{"magic":"1"}}}]}`,
		`{"containers":[{"name":"c","image":"i","terminationMessagePolicy":"Shout"}]}`,
		`{"containers":[{"name":"c","image":"i","volumeMounts":[{"name":"v","mountPath":"/a"},{"name":"v","mountPath":"/a"}]}],"volumes":[{"name":"v"}]}`,
		`{"containers":[{"name":"c","image":"i"}],"initContainers":[{"name":"c","image":"i"}]}`,
		`{"affinity":{"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"z","matchLabelKeys":["app"]}]}},"containers":[{"name":"c","image":"i"}]}`,
		`{"affinity":{"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"z","labelSelector":{},"matchLabelKeys":["a"],"mismatchLabelKeys":["a"]}]}},"containers":[{"name":"c","image":"i"}]}`,
		`{"affinity":{"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"z","namespaces":["Bad"]}]}},"containers":[{"name":"c","image":"i"}]}`,
		`{"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchFields":[{"key":"metadata.uid","operator":"In","values":["a"]}]}]}}},"containers":[{"name":"c","image":"i"}]}`,
		`{"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"a","operator":"Like"}]}]}}},"containers":[{"name":"c","image":"i"}]}`,
		`{"topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"z","whenUnsatisfiable":"DoNotSchedule","nodeTaintsPolicy":"Perhaps"}],"containers":[{"name":"c","image":"i"}]}`,
		`{"tolerations":[{"key":"a","value":"-bad-"}],"containers":[{"name":"c","image":"i"}]}`,
		`{"tolerations":[{"key":"-bad","operator":"Exists"}],"containers":[{"name":"c","image":"i"}]}`,
		`{"tolerations":[{"operator":"Exists","effect":"Wrong"}],"containers":[{"name":"c","image":"i"}]}`,
		`{"hostname":"a.b","containers":[{"name":"c","image":"i"}]}`,
		`{"readinessGates":[{"conditionType":"-"}],"containers":[{"name":"c","image":"i"}]}`,
		`{"volumes":[{"name":"V","emptyDir":{}}],"containers":[{"name":"c","image":"i"}]}`,
		`{"volumes":[{"name":"v","hostPath":{"path":""}}],"containers":[{"name":"c","image":"i"}]}`,
		`{"priority":"high","containers":[{"name":"c","image":"i"}]}`,
		`{"nodeSelector":["a"],"containers":[{"name":"c","image":"i"}]}`,
		`{"restartPolicy":"Maybe","containers":[{"name":"c","image":"i"}]}`,
		`{"dnsPolicy":"Maybe","containers":[{"name":"c","image":"i"}]}`,
		`{"nodeSelector":{"-bad":"x"},"containers":[{"name":"c","image":"i"}]}`,
		`{"tolerations":[{"key":"a","operator":"Like"}],"containers":[{"name":"c","image":"i"}]}`,
		`{"tolerations":[{"operator":"Exists","value":"v"}],"containers":[{"name":"c","image":"i"}]}`,
		`{"tolerations":[{"key":"a","effect":"NoSchedule","tolerationSeconds":1}],"containers":[{"name":"c","image":"i"}]}`,
		`{"priorityClassName":"nothing","containers":[{"name":"c","image":"i"}]}`,
		`{"priority":7,"containers":[{"name":"c","image":"i"}]}`,
		`{"schedulerName":"Bad_Name","containers":[{"name":"c","image":"i"}]}`,
		`{"preemptionPolicy":"Perhaps","containers":[{"name":"c","image":"i"}]}`,
		`{"schedulingGates":[{"name":"a"},{"name":"a"}],"containers":[{"name":"c","image":"i"}]}`,
		`{"schedulingGates":[{"name":""}],"containers":[{"name":"c","image":"i"}]}`,
		`{"nodeName":"n","schedulingGates":[{"name":"g"}],"containers":[{"name":"c","image":"i"}]}`,
		`{"terminationGracePeriodSeconds":-5,"containers":[{"name":"c","image":"i"}]}`,
		`{"activeDeadlineSeconds":0,"containers":[{"name":"c","image":"i"}]}`,
		`{"topologySpreadConstraints":[{"maxSkew":0,"topologyKey":"z","whenUnsatisfiable":"DoNotSchedule"}],"containers":[{"name":"c","image":"i"}]}`,
		`{"topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"","whenUnsatisfiable":"DoNotSchedule"}],"containers":[{"name":"c","image":"i"}]}`,
		`{"topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"z","whenUnsatisfiable":"Perhaps"}],"containers":[{"name":"c","image":"i"}]}`,
		`{"topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"z","whenUnsatisfiable":"DoNotSchedule"},{"maxSkew":1,"topologyKey":"z","whenUnsatisfiable":"DoNotSchedule"}],"containers":[{"name":"c","image":"i"}]}`,
		`{"topologySpreadConstraints":[{"maxSkew":1,"minDomains":2,"topologyKey":"z","whenUnsatisfiable":"ScheduleAnyway"}],"containers":[{"name":"c","image":"i"}]}`,
		`{"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[]}}},"containers":[{"name":"c","image":"i"}]}`,
		`{"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"a","operator":"In"}]}]}}},"containers":[{"name":"c","image":"i"}]}`,
		`{"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"a","operator":"Gt","values":["x"]}]}]}}},"containers":[{"name":"c","image":"i"}]}`,
		`{"affinity":{"nodeAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":0,"preference":{}}]}},"containers":[{"name":"c","image":"i"}]}`,
		`{"affinity":{"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"","labelSelector":{}}]}},"containers":[{"name":"c","image":"i"}]}`,
		`{"affinity":{"podAntiAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":101,"podAffinityTerm":{"topologyKey":"z"}}]}},"containers":[{"name":"c","image":"i"}]}`,
		`{"affinity":{"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"z","labelSelector":{"matchExpressions":[{"key":"a","operator":"Exists","values":["b"]}]}}]}},"containers":[{"name":"c","image":"i"}]}`,
		`{"volumes":[{"name":"v"},{"name":"v","emptyDir":{}}],"containers":[{"name":"c","image":"i"}]}`,
		`{"volumes":[{"name":"v","persistentVolumeClaim":{"claimName":""}}],"containers":[{"name":"c","image":"i"}]}`,
		`{"containers":[{"name":"c","image":"i","volumeMounts":[{"name":"nothing","mountPath":"/x"}]}]}`,
		`{"resourceClaims":[{"name":"a"}],"containers":[{"name":"c","image":"i"}]}`,
		`{"resourceClaims":[{"name":"a","resourceClaimName":"x","resourceClaimTemplateName":"y"}],"containers":[{"name":"c","image":"i"}]}`,
		`{"containers":[{"name":"c","image":"i","resources":{"claims":[{"name":"nothing"}]}}]}`,
		`{"overhead":{"cpu":"-1"},"containers":[{"name":"c","image":"i"}]}`,
		`{"hostNetwork":true,"containers":[{"name":"c","image":"i","ports":[{"containerPort":80,"hostPort":81}]}]}`,
		`{"containerz":[]}`,
		`{"containers":"none"}`,
	}
	var bodies []string
	for _, spec := range specs {
		bodies = append(bodies, `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"bad"},"spec":`+spec+`}`)
	}
	for _, meta := range []string{
		`{"name":"Bad"}`, `{"name":"a..b"}`, `{}`, `{"name":"` + strings.Repeat("x", 254) + `"}`, `{"name":"bad","labels":{"a b":"c"}}`,
		`{"name":"bad","labels":{"a":"b c"}}`, `{"name":"bad","annotations":{"":"c"}}`, `{"name":"bad","namespace":"other"}`, `{"name":"bad","finalizers":["x"]}`,
		`{"name":"bad","ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"","uid":""}]}`, `{"name":"bad","resourceVersion":"7"}`,
	} {
		bodies = append(bodies, `{"apiVersion":"v1","kind":"Pod","metadata":`+meta+`,`+simplePod+`}`)
	}
	return bodies
}

func differentialSteps() []step {
	var steps []step
	add := func(more ...step) { steps = append(steps, more...) }
	for _, kind := range differentialKinds() {
		add(stepsOf(kind)...)
	}
	add(applySteps()...)
	pods := namespaced + "pods"
	for _, body := range badPods() {
		add(step{method: "POST", path: pods + "?dryRun=All&fieldValidation=Strict", body: body})
	}
	add(
		// pods and their subresources
		step{method: "POST", path: pods, body: `{"apiVersion":"v1","kind":"Pod","metadata":{"generateName":"generated-"},` + simplePod + `}`},
		step{method: "POST", path: pods, body: `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"gated"},"spec":{"schedulingGates":[{"name":"g"}],"containers":[{"name":"c","image":"i"}]}}`},
		step{method: "POST", path: pods + "/gated/binding", body: `{"apiVersion":"v1","kind":"Binding","metadata":{"name":"gated"},"target":{"kind":"Node","name":"n"}}`},
		step{method: "PATCH", path: pods + "/gated", body: `{"spec":{"schedulingGates":[{"name":"h"}]}}`, kind: mergePatch},
		step{method: "PATCH", path: pods + "/gated", body: `{"spec":{"nodeSelector":{"a":"b"}}}`, kind: mergePatch},
		step{method: "PATCH", path: pods + "/gated", body: `{"spec":{"schedulingGates":null}}`, kind: mergePatch},
		step{method: "POST", path: pods, body: `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"important"},"spec":{"priorityClassName":"system-node-critical","containers":[{"name":"c","image":"i"}]}}`},
		step{method: "POST", path: pods + "/a/binding", body: `{"apiVersion":"v1","kind":"Binding","metadata":{"name":"a","uid":"00000000-0000-0000-0000-000000000000"},"target":{"kind":"Node","name":"n"}}`},
		step{method: "POST", path: pods + "/a/binding", body: `{"apiVersion":"v1","kind":"Binding","metadata":{"name":"a"},"target":{"kind":"Node","name":""}}`},
		step{method: "POST", path: pods + "/a/binding", body: `{"apiVersion":"v1","kind":"Binding","metadata":{"name":"a"},"target":{"kind":"Wagon","name":"n"}}`},
		step{method: "POST", path: pods + "/a/binding?dryRun=All", body: `{"apiVersion":"v1","kind":"Binding","metadata":{"name":"a"},"target":{"kind":"Node","name":"n"}}`},
		step{method: "POST", path: pods + "/a/binding", body: `{"apiVersion":"v1","kind":"Binding","metadata":{"name":"a"},"target":{"kind":"Node","name":"n"}}`},
		step{method: "POST", path: pods + "/a/binding", body: `{"apiVersion":"v1","kind":"Binding","metadata":{"name":"a"},"target":{"kind":"Node","name":"m"}}`},
		step{method: "POST", path: pods + "/nothing/binding", body: `{"apiVersion":"v1","kind":"Binding","metadata":{"name":"nothing"},"target":{"kind":"Node","name":"n"}}`},
		step{method: "GET", path: pods + "/a"},
		step{method: "GET", path: pods + "?fieldSelector=spec.nodeName%3Dn"},
		step{method: "GET", path: pods + "?fieldSelector=status.phase%21%3DSucceeded%2Cstatus.phase%21%3DFailed%2Cspec.nodeName%3D"},
		step{method: "GET", path: pods, accept: asTable},
		step{method: "PATCH", path: pods + "/a/status", body: `{"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}`, kind: strategicPatch},
		step{method: "PATCH", path: pods + "/a/status", body: `{"status":{"$setElementOrder/conditions":[{"type":"Ready"},{"type":"PodScheduled"}],"conditions":[{"type":"PodScheduled","status":"True","reason":"r"}]}}`, kind: strategicPatch},
		step{method: "PATCH", path: pods + "/a/status", body: `{"status":{"nominatedNodeName":"n"}}`, kind: strategicPatch},
		step{method: "PATCH", path: pods + "/a/status", body: `{"status":{"nominatedNodeName":null}}`, kind: strategicPatch},
		step{method: "PATCH", path: pods + "/a/status", body: `{"spec":{"nodeName":"m"}}`, kind: strategicPatch},
		step{method: "PATCH", path: pods + "/a", body: `{"spec":{"nodeName":"m"}}`, kind: mergePatch},
		step{method: "PATCH", path: pods + "/a", body: `{"spec":{"containers":[{"name":"c","image":"new"}]}}`, kind: strategicPatch},
		step{method: "PATCH", path: pods + "/a", body: `{"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"200m"}}}]}}`, kind: strategicPatch},
		step{method: "PATCH", path: pods + "/a/resize", body: `{"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"200m"}}}]}}`, kind: strategicPatch},
		step{method: "GET", path: pods + "/a/status"},
		step{method: "POST", path: pods + "/a/eviction", body: `{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"a"}}`},
		step{method: "DELETE", path: pods + "/a"},
		step{method: "DELETE", path: pods + "/a?gracePeriodSeconds=0"},
		step{method: "GET", path: pods + "/a"},
		step{method: "DELETE", path: pods + "/gated"},
		step{method: "DELETE", path: pods + "/nothing"},
		// scale
		step{method: "GET", path: appsV1 + "deployments/d/scale"},
		step{method: "PATCH", path: appsV1 + "deployments/d/scale", body: `{"spec":{"replicas":5}}`, kind: mergePatch},
		step{method: "PATCH", path: appsV1 + "deployments/d/scale", body: `{"spec":{"replicas":-5}}`, kind: mergePatch},
		step{method: "GET", path: appsV1 + "deployments/nothing/scale"},
		step{method: "PATCH", path: appsV1 + "deployments/d", body: `{"spec":{"selector":{"matchLabels":{"app":"z"}}}}`, kind: mergePatch},
		step{method: "PATCH", path: appsV1 + "deployments/d", body: `{"spec":{"strategy":{"type":"Fast"}}}`, kind: mergePatch},
		step{method: "PATCH", path: appsV1 + "deployments/d", body: `{"spec":{"strategy":{"type":"Fast","rollingUpdate":null}}}`, kind: mergePatch},
		step{method: "PATCH", path: appsV1 + "deployments/d", body: `{"spec":{"strategy":{"type":"Recreate"}}}`, kind: mergePatch},
		step{method: "PATCH", path: appsV1 + "deployments/d", body: `{"spec":{"strategy":{"rollingUpdate":{"maxSurge":0,"maxUnavailable":0}}}}`, kind: mergePatch},
		step{method: "PATCH", path: appsV1 + "deployments/d", body: `{"spec":{"strategy":{"rollingUpdate":{"maxSurge":"200%","maxUnavailable":"101%"}}}}`, kind: mergePatch},
		step{method: "PATCH", path: appsV1 + "deployments/d", body: `{"spec":{"strategy":{"rollingUpdate":{"maxSurge":"x%","maxUnavailable":-1}}}}`, kind: mergePatch},
		step{method: "PATCH", path: appsV1 + "deployments/d/status", body: `{"status":{"replicas":5,"observedGeneration":1}}`, kind: mergePatch},
		// server-side apply
		step{method: "PATCH", path: namespaced + "configmaps/applied", body: `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"applied"},"data":{"a":"1","b":"2"}}`, kind: applyPatch},
		step{method: "PATCH", path: namespaced + "configmaps/applied?fieldManager=one", body: `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"applied"},"data":{"a":"1","b":"2"}}`, kind: applyPatch},
		step{method: "PATCH", path: namespaced + "configmaps/applied?fieldManager=two", body: `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"applied"},"data":{"a":"9"}}`, kind: applyPatch},
		step{method: "PATCH", path: namespaced + "configmaps/applied?fieldManager=two&force=true", body: `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"applied"},"data":{"a":"9"}}`, kind: applyPatch},
		step{method: "PATCH", path: namespaced + "configmaps/applied?fieldManager=one", body: `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"applied"},"data":{"c":"3"}}`, kind: applyPatch},
		step{method: "PATCH", path: namespaced + "configmaps/applied?fieldManager=one", body: `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"other"},"data":{}}`, kind: applyPatch},
		step{method: "PATCH", path: appsV1 + "deployments/d?fieldManager=one", body: `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"},"spec":{"replicas":9,"selector":{"matchLabels":{"app":"x"}},` + podTemplate + `}}`, kind: applyPatch},
		// objects of other kinds that must be refused
		step{method: "POST", path: "/api/v1/nodes?dryRun=All", body: `{"apiVersion":"v1","kind":"Node","metadata":{"name":"bad"},"spec":{"taints":[{"key":"a","effect":"NoSchedule"},{"key":"a","value":"v","effect":"NoSchedule"}]}}`},
		step{method: "POST", path: "/api/v1/nodes?dryRun=All", body: `{"apiVersion":"v1","kind":"Node","metadata":{"name":"bad"},"spec":{"taints":[{"key":"-a","value":"-","effect":""}]}}`},
		step{method: "POST", path: "/api/v1/persistentvolumes?dryRun=All", body: `{"apiVersion":"v1","kind":"PersistentVolume","metadata":{"name":"bad"},"spec":{"accessModes":["ReadWriteOnce","ReadWriteOncePod"],"capacity":{"storage":"1Gi"}}}`},
		step{method: "POST", path: "/api/v1/persistentvolumes?dryRun=All", body: `{"apiVersion":"v1","kind":"PersistentVolume","metadata":{"name":"bad"},"spec":{"accessModes":["Sometimes"],"capacity":{"storage":"1Gi"},"volumeMode":"Tape","local":{"path":"/x"}}}`},
		step{method: "POST", path: "/apis/policy/v1/namespaces/default/poddisruptionbudgets?dryRun=All", body: `{"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{"name":"bad"},"spec":{"minAvailable":"101%"}}`},
		step{method: "POST", path: "/apis/policy/v1/namespaces/default/poddisruptionbudgets?dryRun=All", body: `{"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{"name":"bad"},"spec":{"maxUnavailable":"many","unhealthyPodEvictionPolicy":"Never"}}`},
		step{method: "POST", path: "/apis/policy/v1/namespaces/default/poddisruptionbudgets?dryRun=All", body: `{"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{"name":"bad"},"spec":{"minAvailable":-1}}`},
		step{method: "POST", path: "/apis/storage.k8s.io/v1/csinodes?dryRun=All", body: `{"apiVersion":"storage.k8s.io/v1","kind":"CSINode","metadata":{"name":"bad"},"spec":{"drivers":[{"name":"d","nodeID":"n","allocatable":{"count":-1}},{"name":"d","nodeID":"n"}]}}`},
		step{method: "POST", path: resourceV1 + "namespaces/default/resourceclaims?dryRun=All", body: `{"apiVersion":"resource.k8s.io/v1","kind":"ResourceClaim","metadata":{"name":"bad"},"spec":{"devices":{"requests":[{"name":"r","exactly":{"deviceClassName":"dc","count":-1}}],"constraints":[{"requests":["other"],"matchAttribute":"a.b/c"}]}}}`},
		step{method: "POST", path: resourceV1 + "namespaces/default/resourceclaims?dryRun=All", body: `{"apiVersion":"resource.k8s.io/v1","kind":"ResourceClaim","metadata":{"name":"bad"},"spec":{"devices":{"requests":[{"name":"r"}]}}}`},
		step{method: "POST", path: namespaced + "configmaps", body: `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"fixed"},"immutable":true,"data":{"a":"1"}}`},
		step{method: "PATCH", path: namespaced + "configmaps/fixed", body: `{"data":{"a":"2"}}`, kind: mergePatch},
		step{method: "PATCH", path: namespaced + "configmaps/fixed", body: `{"metadata":{"finalizers":["x"]}}`, kind: mergePatch},
		step{method: "POST", path: namespaced + "configmaps?dryRun=All", body: `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"generateName":"Bad.generated-"}}`},
		step{method: "PATCH", path: "/api/v1/persistentvolumes/pv", body: `{"spec":{"accessModes":[]}}`, kind: mergePatch},
		// what is wrong with the request itself
		step{method: "POST", path: pods, body: `{"apiVersion":"v1",}`},
		step{method: "POST", path: pods, body: `{"apiVersion":"v1" "kind":"Pod"}`},
		step{method: "POST", path: pods, body: `[1,2`},
		step{method: "POST", path: pods, body: `{"apiVersion":"v1","kind":"Wagon","metadata":{"name":"x"}}`},
		step{method: "POST", path: pods, body: `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"x"}}`},
		step{method: "GET", path: "/apis/apps/v7/deployments"},
		step{method: "GET", path: "/api/v2/pods"},
		step{method: "GET", path: "/nothing"},
		step{method: "POST", path: pods, body: `{"apiVersion":"v1","kind":"Pod"`},
		step{method: "POST", path: pods, body: `{"apiVersion":"v1","kind":"Node","metadata":{"name":"x"}}`},
		step{method: "POST", path: pods, body: `{"apiVersion":"v2","kind":"Pod","metadata":{"name":"x"}}`},
		step{method: "POST", path: pods, body: `{}`, kind: "text/csv"},
		step{method: "POST", path: pods + "?fieldValidation=Strict", body: `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"x","name":"y"},` + simplePod + `}`},
		step{method: "POST", path: pods + "?fieldValidation=Perhaps", body: `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"x"},` + simplePod + `}`},
		step{method: "POST", path: "/api/v1/namespaces/nothing/pods", body: `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"x"},` + simplePod + `}`},
		step{method: "GET", path: "/api/v1/nothing"},
		step{method: "GET", path: "/apis/nothing/v1"},
		step{method: "PUT", path: pods, body: `{}`},
		step{method: "GET", path: pods, accept: "text/csv"},
		step{method: "GET", path: pods + "?limit=-1"},
		step{method: "GET", path: pods + "?continue=nonsense"},
		step{method: "GET", path: pods + "?resourceVersionMatch=Exact"},
		step{method: "GET", path: pods + "?resourceVersion=1&resourceVersionMatch=Perhaps"},
		step{method: "GET", path: pods + "?watch=true&resourceVersion=1&timeoutSeconds=3", watch: 1},
		step{method: "GET", path: pods + "?watch=true&sendInitialEvents=true&timeoutSeconds=3", watch: 1},
		step{method: "GET", path: pods + "?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&labelSelector=none&timeoutSeconds=3", watch: 1},
		step{method: "DELETE", path: namespaced + "configmaps?labelSelector=app%3Dx"},
		step{method: "GET", path: namespaced + "configmaps?labelSelector=app%3Dx"},
		step{method: "DELETE", path: pods + "?labelSelector=nothing%3Dhere"},
		step{method: "POST", path: "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", body: `{"apiVersion":"authorization.k8s.io/v1","kind":"SelfSubjectAccessReview","spec":{"resourceAttributes":{"verb":"create","resource":"pods"}}}`},
	)
	return steps
}
