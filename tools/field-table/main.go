// field-table writes src/wire/fields.tsv: every field of every API kind that berth knows, with its
// protobuf number and how its JSON form behaves. It reads the struct tags of the Kubernetes API module,
// so that the table holds facts and nobody types them by hand.
//
//	go run . ../../src/wire/fields.tsv
//
// The column `used` (does the scheduler read or write the field) is berth's own: it is carried over from
// the file that is there already, and new rows start as `n`.
package main

import (
	"bufio"
	"fmt"
	"os"
	"reflect"
	"sort"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	eventsv1 "k8s.io/api/events/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// The kinds that berth's decoders, the transcoder and the sandbox know.
var roots = []any{
	runtime.Unknown{}, metav1.WatchEvent{}, metav1.Status{}, metav1.DeleteOptions{},
	metav1.PartialObjectMetadata{}, metav1.PartialObjectMetadataList{},
	corev1.PodList{}, corev1.Binding{}, corev1.NodeList{}, corev1.NamespaceList{}, corev1.PersistentVolumeList{},
	corev1.PersistentVolumeClaimList{}, corev1.ServiceList{}, corev1.ReplicationControllerList{},
	corev1.EventList{}, corev1.ConfigMapList{}, corev1.SecretList{}, corev1.ServiceAccountList{},
	corev1.EndpointsList{}, corev1.LimitRangeList{}, corev1.ResourceQuotaList{}, corev1.PodTemplateList{},
	appsv1.ReplicaSetList{}, appsv1.StatefulSetList{}, appsv1.DeploymentList{}, appsv1.DaemonSetList{},
	appsv1.ControllerRevisionList{}, batchv1.JobList{}, batchv1.CronJobList{}, discoveryv1.EndpointSliceList{},
	policyv1.PodDisruptionBudgetList{}, policyv1.Eviction{}, coordinationv1.LeaseList{}, eventsv1.EventList{},
	storagev1.StorageClassList{}, storagev1.CSINodeList{}, storagev1.CSIDriverList{},
	storagev1.CSIStorageCapacityList{}, storagev1.VolumeAttachmentList{}, storagev1.VolumeAttributesClassList{},
	schedulingv1.PriorityClassList{}, schedulingv1beta1.WorkloadList{}, schedulingv1beta1.PodGroupList{},
	schedulingv1alpha3.CompositePodGroupList{},
	resourcev1.ResourceClaimList{}, resourcev1.ResourceClaimTemplateList{}, resourcev1.ResourceSliceList{},
	resourcev1.DeviceClassList{}, resourcev1.DeviceTaintRuleList{},
	authenticationv1.TokenReview{}, authenticationv1.SelfSubjectReview{}, authenticationv1.TokenRequest{},
	authorizationv1.SubjectAccessReview{}, authorizationv1.SelfSubjectAccessReview{},
	authorizationv1.SelfSubjectRulesReview{}, authorizationv1.LocalSubjectAccessReview{},
	rbacv1.RoleList{}, rbacv1.ClusterRoleList{}, rbacv1.RoleBindingList{}, rbacv1.ClusterRoleBindingList{},
}

// Types whose wire form is not their Go struct; rows as `field number wire type`.
var special = map[string][]string{
	"meta.v1.Time":         {"seconds 1 varint int64", "nanos 2 varint int32"},
	"meta.v1.MicroTime":    {"seconds 1 varint int64", "nanos 2 varint int32"},
	"meta.v1.FieldsV1":     {"Raw 1 len bytes"},
	"runtime.RawExtension": {"raw 1 len bytes"},
	"resource.Quantity":    {"string 1 len string"},
	"intstr.IntOrString":   {"type 1 varint int64", "intVal 2 varint int32", "strVal 3 len string"},
	"runtime.Unknown":      {"typeMeta 1 len runtime.TypeMeta", "raw 2 len bytes", "contentEncoding 3 len string", "contentType 4 len string"},
}

type row struct {
	message, field, number, wire, typ, json string
	presence                                string // value, pointer, list or map, as Go holds it
	empty                                   string // omit: an empty value has no JSON key; keep: it has one
	patch                                   string // strategic merge: merge key, `-` = replaced whole
}

func messageName(t reflect.Type) string {
	path := t.PkgPath()
	switch {
	case strings.HasSuffix(path, "apimachinery/pkg/apis/meta/v1"):
		return "meta.v1." + t.Name()
	case strings.HasSuffix(path, "apimachinery/pkg/runtime"):
		return "runtime." + t.Name()
	case strings.HasSuffix(path, "apimachinery/pkg/api/resource"):
		return "resource." + t.Name()
	case strings.HasSuffix(path, "apimachinery/pkg/util/intstr"):
		return "intstr." + t.Name()
	}
	parts := strings.Split(path, "/")
	return strings.Join(parts[len(parts)-2:], ".") + "." + t.Name()
}

type walker struct {
	rows []row
	seen map[string]bool
	todo []reflect.Type
}

func (w *walker) scalar(t reflect.Type) (typ, wire string) {
	switch t.Kind() {
	case reflect.String:
		return "string", "len"
	case reflect.Bool:
		return "bool", "varint"
	case reflect.Int32:
		return "int32", "varint"
	case reflect.Int64, reflect.Int:
		return "int64", "varint"
	case reflect.Uint8:
		return "int32", "varint"
	case reflect.Float64:
		return "double", "fixed64"
	case reflect.Struct:
		w.todo = append(w.todo, t)
		return messageName(t), "len"
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return "bytes", "len"
		}
		if t.Name() != "" { // a named list of strings is a message of its own: {items = 1}
			w.todo = append(w.todo, t)
			return messageName(t), "len"
		}
	}
	panic("no wire form for " + t.String())
}

func (w *walker) field(message string, f reflect.StructField) {
	r := row{message: message, presence: "value", empty: "keep", patch: "-"}
	tag := strings.Split(f.Tag.Get("protobuf"), ",")
	if len(tag) < 3 {
		if f.Name == "TypeMeta" { // travels in the envelope, not in the message
			return
		}
		panic(message + "." + f.Name + " has no protobuf tag")
	}
	r.number = tag[1]
	for _, part := range tag {
		if name, ok := strings.CutPrefix(part, "name="); ok {
			r.field = name
		}
	}
	if r.field == "" {
		r.field = strings.ToLower(f.Name[:1]) + f.Name[1:]
	}
	json := strings.Split(f.Tag.Get("json"), ",")
	r.json = json[0]
	for _, option := range json[1:] {
		// Go's omitempty does not drop an empty struct; omitzero does.
		if option == "omitzero" || option == "omitempty" && f.Type.Kind() != reflect.Struct {
			r.empty = "omit"
		}
		if option == "inline" {
			r.json = "(inline)"
		}
	}
	if r.json == "" {
		r.json = "(inline)"
	}
	strategy := f.Tag.Get("patchStrategy")
	if strategy != "" {
		r.patch = strategy
		if key := f.Tag.Get("patchMergeKey"); key != "" {
			r.patch += ":" + key
		}
	}
	t := f.Type
	switch {
	case t.Kind() == reflect.Pointer:
		r.presence = "pointer"
		r.typ, r.wire = w.scalar(t.Elem())
	case t.Kind() == reflect.Map:
		r.presence = "map"
		value, _ := w.scalar(t.Elem())
		r.typ, r.wire = "map<string,"+value+">", "len"
	case t.Kind() == reflect.Slice && t.Elem().Kind() != reflect.Uint8 && t.Name() != "FieldsV1":
		r.presence = "list"
		element := t.Elem()
		if element.Kind() == reflect.Pointer {
			element = element.Elem()
		}
		value, wire := w.scalar(element)
		r.typ, r.wire = "repeated "+value, wire
	default:
		r.typ, r.wire = w.scalar(t)
	}
	w.rows = append(w.rows, r)
}

func (w *walker) message(t reflect.Type) {
	name := messageName(t)
	if w.seen[name] {
		return
	}
	w.seen[name] = true
	if rows, ok := special[name]; ok {
		for _, line := range rows {
			c := strings.Fields(line)
			r := row{message: name, field: c[0], number: c[1], wire: c[2], typ: c[3], json: "-", presence: "value", empty: "omit", patch: "-"}
			if c[3] == "runtime.TypeMeta" {
				r.json = "(inline)"
				w.todo = append(w.todo, reflect.TypeFor[runtime.TypeMeta]())
			} else if name == "runtime.Unknown" && c[0] != "raw" {
				r.json = c[0]
			}
			w.rows = append(w.rows, r)
		}
		return
	}
	if t.Kind() == reflect.Slice {
		w.rows = append(w.rows, row{name, "items", "1", "len", "repeated string", "(inline)", "list", "omit", "-"})
		return
	}
	before := len(w.rows)
	for i := range t.NumField() {
		if f := t.Field(i); f.IsExported() {
			w.field(name, f)
		}
	}
	if len(w.rows) == before {
		w.rows = append(w.rows, row{name, "-", "-", "-", "(empty message)", "-", "-", "-", "-"})
	}
}

func usedBefore(path string) map[string]string {
	used := map[string]string{}
	file, err := os.Open(path)
	if err != nil {
		return used
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		c := strings.Split(lines.Text(), "\t")
		used[c[0]+"."+c[1]] = c[len(c)-1]
	}
	return used
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: field-table FILE")
		os.Exit(2)
	}
	used := usedBefore(os.Args[1])
	w := &walker{seen: map[string]bool{}}
	for _, root := range roots {
		w.todo = append(w.todo, reflect.TypeOf(root))
	}
	for len(w.todo) > 0 {
		next := w.todo[0]
		w.todo = w.todo[1:]
		w.message(next)
	}
	sort.SliceStable(w.rows, func(i, j int) bool { return w.rows[i].message < w.rows[j].message })
	out, err := os.Create(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	defer out.Close()
	fmt.Fprintln(out, "message\tfield\tnumber\twire\ttype\tjson\tpresence\tempty\tpatch\tused")
	for _, r := range w.rows {
		u := used[r.message+"."+r.field]
		if u == "" {
			u = "n"
		}
		fmt.Fprintln(out, strings.Join([]string{r.message, r.field, r.number, r.wire, r.typ, r.json, r.presence, r.empty, r.patch, u}, "\t"))
	}
}
