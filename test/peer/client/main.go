// Client is an informer of pods and a writer of bindings as client-go offers them: the counterpart of berth's client
// benchmark, on the same server. It prints the processor time of both.
//
//	client --kubeconfig FILE [--bindings N] [--workers N]
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"sync/atomic"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

func cpuTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		log.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// podInformer is kube-scheduler's: pods that still run, without their managed fields.
func podInformer(client kubernetes.Interface) cache.SharedIndexInformer {
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithTweakListOptions(func(options *metav1.ListOptions) {
		options.FieldSelector = fields.AndSelectors(fields.OneTermNotEqualSelector("status.phase", "Succeeded"),
			fields.OneTermNotEqualSelector("status.phase", "Failed")).String()
	}))
	informer := factory.Core().V1().Pods().Informer()
	if err := informer.SetTransform(func(object any) (any, error) {
		if pod, ok := object.(*corev1.Pod); ok {
			pod.ManagedFields = nil
		}
		return object, nil
	}); err != nil {
		log.Fatal(err)
	}
	return informer
}

func bind(client kubernetes.Interface, pod *corev1.Pod, node string) {
	meta := metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID}
	binding := &corev1.Binding{ObjectMeta: meta, Target: corev1.ObjectReference{Kind: "Node", Name: node}}
	if err := client.CoreV1().Pods(pod.Namespace).Bind(context.Background(), binding, metav1.CreateOptions{}); err != nil {
		log.Fatal(err)
	}
}

func main() {
	file := flag.String("kubeconfig", "", "where the server is")
	wanted := flag.Int("bindings", 20000, "pods to bind")
	workers := flag.Int("workers", 16, "bindings at once")
	flag.Parse()
	config, err := clientcmd.BuildConfigFromFlags("", *file)
	if err != nil {
		log.Fatal(err)
	}
	config.QPS = -1
	config.ContentType = "application/vnd.kubernetes.protobuf"
	config.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	client := kubernetes.NewForConfigOrDie(config)

	var bound atomic.Int64
	target := int64(-1)
	done := make(chan struct{})
	informer := podInformer(client)
	var unbound []*corev1.Pod
	before := cpuTime()
	registration, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(object any) {
			if pod := object.(*corev1.Pod); pod.Spec.NodeName == "" && len(unbound) < *wanted {
				unbound = append(unbound, pod)
			}
		},
		UpdateFunc: func(_, object any) {
			if object.(*corev1.Pod).Spec.NodeName != "" && bound.Add(1) == atomic.LoadInt64(&target) {
				close(done)
			}
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	stop := make(chan struct{})
	go informer.Run(stop)
	if !cache.WaitForCacheSync(stop, registration.HasSynced) {
		log.Fatal("not synced")
	}
	synced := cpuTime()
	atomic.StoreInt64(&target, int64(len(unbound)))
	var next atomic.Int64
	for range *workers {
		go func() {
			for {
				at := int(next.Add(1)) - 1
				if at >= len(unbound) {
					return
				}
				bind(client, unbound[at], fmt.Sprintf("node-%d", at%10+1))
			}
		}()
	}
	if len(unbound) > 0 {
		<-done
	}
	fmt.Printf("list_cpu_seconds=%.3f pods=%d bind_cpu_seconds=%.3f bindings=%d\n",
		(synced - before).Seconds(), len(informer.GetStore().ListKeys()), (cpuTime() - synced).Seconds(), len(unbound))
	close(stop)
}
