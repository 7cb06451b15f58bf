package scenarios

import "fmt"

// applySteps are configurations for server-side apply: good ones, twice each, and those that the server does not take.
func applySteps() []step {
	const web = appsV1 + "deployments/web"
	apply := func(path, body string) step {
		return step{method: "PATCH", path: path, body: body, kind: applyPatch}
	}
	deployment := func(metadata, spec string) string {
		return fmt.Sprintf(`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{%s},"spec":%s}`, metadata, spec)
	}
	withPod := func(spec string) string {
		return deployment(`"name":"web"`, fmt.Sprintf(`{"selector":{"matchLabels":{"app":"web"}},"template":{"metadata":{"labels":{"app":"web"}},"spec":%s}}`, spec))
	}
	var steps []step
	for _, spec := range []string{
		// lists whose elements have keys
		`{"containers":[{"foo":80}]}`,
		`{"containers":[{"image":"i"}]}`,
		`{"containers":[{"name":"c","image":"i"},{"name":"c","image":"j"}]}`,
		`{"containers":[{"name":"c","image":"i","ports":[{"containerPort":80},{"containerPort":80,"protocol":"TCP"}]}]}`,
		`{"containers":[{"name":"c","image":"i","ports":[{"protocol":"UDP"}]}]}`,
		`{"containers":[{"name":"c","image":"i"}],"topologySpreadConstraints":[{"maxSkew":1},{"maxSkew":2}]}`,
		`{"containers":[1]}`,
		`{"containers":[null]}`,
		`{"containers":{"name":"c"}}`,
		`{"containers":"none"}`,
		`{"containers":[{"name":7,"image":"i"}]}`,
		// values of other types, and fields that are not there
		`{"containers":[{"name":"c","image":"i","foo":1}]}`,
		`{"containers":[{"name":"c","image":true}]}`,
		`{"containers":[{"name":"c","image":{"a":[1,"b",null],"c":1.5}}]}`,
		`{"containers":[{"name":"c","image":"i","command":[1]}]}`,
		`{"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":["1"]}}}]}`,
		`{"containers":[{"name":"c","image":"i"}],"nodeSelector":{"a":1000000}}`,
		`{"containers":[{"name":"c","image":"i"}],"tolerations":[{"key":"a","foo":1}]}`,
		`{"containers":[{"name":"c","image":"i"}],"volumes":[{"name":"v","emptyDir":{"foo":1}}]}`,
		`{"containers":[{"name":"c","image":"i"}],"hostNetwork":"yes"}`,
		`"no"`,
	} {
		steps = append(steps, apply(web+"?fieldManager=one", withPod(spec)))
	}
	for _, validation := range []string{"Ignore", "Warn", "Strict"} {
		steps = append(steps,
			apply(web+"?fieldManager=one&fieldValidation="+validation, withPod(`{"containers":[{"name":"c","image":"i","foo":1}]}`)),
			apply(namespaced+"configmaps/twice?fieldManager=one&fieldValidation="+validation,
				"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: twice}\ndata:\n  a: \"1\"\n  a: \"2\"\n"))
	}
	for _, body := range []string{
		deployment(`"name":"web"`, `{"replicas":"two"}`),
		deployment(`"name":"web"`, `{"replicas":[2]}`),
		deployment(`"name":"web"`, `[]`),
		deployment(`"name":"web","finalizers":["a/b","a/b"]`, `{}`),
		deployment(`"name":"web","finalizers":[{"a":1}]`, `{}`),
		deployment(`"name":"web","finalizers":[["a"]]`, `{}`),
		deployment(`"name":"web","finalizers":[null]`, `{}`),
		deployment(`"name":"web","namespace":"default","foo":1`, `{}`),
		deployment(`"name":7`, `{}`),
		deployment(`"name":"web","managedFields":[]`, `{}`),
		deployment(`"name":"other"`, `{}`),
		deployment(`"name":"web","namespace":"other"`, `{}`),
		`{"apiVersion":"apps/v1","kind":"Deployment","metadata":[]}`,
		`{"apiVersion":"apps/v1","kind":"ReplicaSet","metadata":{"name":"web"}}`,
		`{"apiVersion":"apps/v2","kind":"Deployment","metadata":{"name":"web"}}`,
		`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web"}}`,
		`{"apiVersion":7,"kind":"Deployment","metadata":{"name":"web"}}`,
		`{"kind":"Deployment","metadata":{"name":"web"}}`,
		`{}`, `null`, `[1]`, `"a"`, `7`,
	} {
		steps = append(steps, apply(web+"?fieldManager=one", body))
	}
	account := func(more string) string {
		return `{"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"sa"},` + more + `}`
	}
	return append(steps,
		// The schema has no value for this key.
		apply(namespaced+"serviceaccounts/sa?fieldManager=one", account(`"secrets":[{"namespace":"a"}]`)),
		apply(namespaced+"serviceaccounts/sa?fieldManager=one", account(`"imagePullSecrets":[{"name":"a"},{"name":"b"}]`)),
		apply(namespaced+"serviceaccounts/sa?fieldManager=one", account(`"imagePullSecrets":[{"name":"b"}]`)),
		// One that is good, again, changed by another manager, and without what the first wants no more.
		apply(web+"?fieldManager=one", withPod(`{"containers":[{"name":"c","image":"i","ports":[{"containerPort":80}]},{"name":"d","image":"i"}]}`)),
		apply(web+"?fieldManager=one", withPod(`{"containers":[{"name":"c","image":"i","ports":[{"containerPort":80}]},{"name":"d","image":"i"}]}`)),
		apply(web+"?fieldManager=two", deployment(`"name":"web"`, `{"template":{"spec":{"containers":[{"name":"c","ports":[{"containerPort":80,"protocol":"UDP"}]}]}}}`)),
		apply(web+"?fieldManager=two", deployment(`"name":"web"`, `{"template":{"spec":{"containers":[{"name":"c","image":"j"}]}}}`)),
		apply(web+"?fieldManager=one", withPod(`{"containers":[{"name":"c","image":"i"}]}`)),
		step{method: "GET", path: web},
	)
}
