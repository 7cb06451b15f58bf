// Null is a scheduler that decides nothing: it binds pods to nodes in turn, as fast as the server lets it. What a real
// scheduler costs and how fast it binds is read beside it.
//
//	null --config FILE [--events] [--workers N]
//
// FILE is a KubeSchedulerConfiguration, of which only clientConnection counts. With --events it also writes the event
// that kube-scheduler writes for each pod.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/yaml"
)

type configuration struct {
	ClientConnection struct {
		Kubeconfig string  `json:"kubeconfig"`
		QPS        float32 `json:"qps"`
		Burst      int     `json:"burst"`
	} `json:"clientConnection"`
}

func connect(file string) *kubernetes.Clientset {
	text, err := os.ReadFile(file)
	if err != nil {
		log.Fatal(err)
	}
	var wanted configuration
	if err := yaml.Unmarshal(text, &wanted); err != nil {
		log.Fatalf("%s: %v", file, err)
	}
	config, err := clientcmd.BuildConfigFromFlags("", wanted.ClientConnection.Kubeconfig)
	if err != nil {
		log.Fatal(err)
	}
	config.QPS, config.Burst = wanted.ClientConnection.QPS, wanted.ClientConnection.Burst
	config.ContentType = "application/vnd.kubernetes.protobuf"
	config.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	return kubernetes.NewForConfigOrDie(config)
}

// nodes hands out the names of the nodes that are there, one after another.
type nodes struct {
	mutex sync.Mutex
	names []string
	index map[string]int
	next  int
}

func (n *nodes) add(name string) {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	if _, found := n.index[name]; !found {
		n.index[name] = len(n.names)
		n.names = append(n.names, name)
	}
}

func (n *nodes) remove(name string) {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	at, found := n.index[name]
	if !found {
		return
	}
	last := len(n.names) - 1
	n.names[at] = n.names[last]
	n.index[n.names[at]] = at
	n.names = n.names[:last]
	delete(n.index, name)
}

func (n *nodes) take() string {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	if len(n.names) == 0 {
		return ""
	}
	n.next = (n.next + 1) % len(n.names)
	return n.names[n.next]
}

func bind(ctx context.Context, client *kubernetes.Clientset, pod *corev1.Pod, node string, writesEvents bool) {
	meta := metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID}
	binding := &corev1.Binding{ObjectMeta: meta, Target: corev1.ObjectReference{Kind: "Node", Name: node}}
	if err := client.CoreV1().Pods(pod.Namespace).Bind(ctx, binding, metav1.CreateOptions{}); err != nil {
		log.Print(err)
		return
	}
	if !writesEvents {
		return
	}
	now := time.Now()
	event := &eventsv1.Event{
		ObjectMeta:          metav1.ObjectMeta{Namespace: pod.Namespace, Name: fmt.Sprintf("%s.%x", pod.Name, now.UnixNano())},
		EventTime:           metav1.NewMicroTime(now),
		ReportingController: "null-scheduler",
		ReportingInstance:   "null-scheduler-0",
		Action:              "Binding",
		Reason:              "Scheduled",
		Type:                corev1.EventTypeNormal,
		Note:                fmt.Sprintf("Successfully assigned %s/%s to %s", pod.Namespace, pod.Name, node),
		Regarding: corev1.ObjectReference{
			APIVersion: "v1", Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID,
			ResourceVersion: pod.ResourceVersion,
		},
	}
	if _, err := client.EventsV1().Events(pod.Namespace).Create(ctx, event, metav1.CreateOptions{}); err != nil {
		log.Print(err)
	}
}

func main() {
	file := flag.String("config", "", "a KubeSchedulerConfiguration")
	writesEvents := flag.Bool("events", false, "write an event for each pod")
	workers := flag.Int("workers", 64, "pods at once")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	client := connect(*file)

	targets := &nodes{index: map[string]int{}}
	pods := make(chan *corev1.Pod, 1<<20)
	all := informers.NewSharedInformerFactory(client, 0)
	_, _ = all.Core().V1().Nodes().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(object any) { targets.add(object.(*corev1.Node).Name) },
		DeleteFunc: func(object any) {
			if node, ok := object.(*corev1.Node); ok {
				targets.remove(node.Name)
			}
		},
	})
	// As kube-scheduler it watches every pod that still runs, bound ones included.
	running := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithTweakListOptions(func(options *metav1.ListOptions) {
		options.FieldSelector = fields.AndSelectors(fields.OneTermNotEqualSelector("status.phase", "Succeeded"),
			fields.OneTermNotEqualSelector("status.phase", "Failed")).String()
	}))
	_, _ = running.Core().V1().Pods().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(object any) {
			pod := object.(*corev1.Pod)
			if pod.Spec.NodeName == "" && len(pod.Spec.SchedulingGates) == 0 {
				pods <- pod
			}
		},
	})
	all.Start(ctx.Done())
	all.WaitForCacheSync(ctx.Done())
	running.Start(ctx.Done())
	for range *workers {
		go func() {
			for pod := range pods {
				for targets.take() == "" {
					time.Sleep(10 * time.Millisecond)
				}
				bind(ctx, client, pod, targets.take(), *writesEvents)
			}
		}()
	}
	<-ctx.Done()
}
