// Command decode takes in a list of pods as a Go client does, until they are in an informer's store, and prints what
// that cost: the counterpart of berth's decode benchmark, on the same bytes.
package main

import (
	"bytes"
	"fmt"
	"os"
	goruntime "runtime"
	"runtime/debug"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/cache"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: decode FILE")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	// Types are registered on first use; that is no part of decoding.
	decoder := scheme.Codecs.UniversalDeserializer()
	debug.FreeOSMemory()
	memoryBefore, cpuBefore := residentBytes(), cpuTime()

	store := cache.NewStore(cache.MetaNamespaceKeyFunc)
	if err := fill(store, decoder, data); err != nil {
		return err
	}
	cpu := cpuTime() - cpuBefore

	pods := len(store.ListKeys())
	debug.FreeOSMemory()
	memory := residentBytes() - memoryBefore
	fmt.Printf("cpu_seconds=%.3f resident_bytes_per_pod=%.0f pods=%d\n",
		cpu.Seconds(), float64(memory)/float64(pods), pods)
	goruntime.KeepAlive(data)
	goruntime.KeepAlive(store)
	return nil
}

// fill does what a reflector does with a list; managed fields are dropped on arrival, as kube-scheduler does.
func fill(store cache.Store, decoder runtime.Decoder, data []byte) error {
	object, _, err := decoder.Decode(data, nil, nil)
	if err != nil {
		return err
	}
	items, err := meta.ExtractListWithAlloc(object)
	if err != nil {
		return err
	}
	all := make([]interface{}, 0, len(items))
	for _, item := range items {
		item.(*corev1.Pod).ManagedFields = nil
		all = append(all, item)
	}
	return store.Replace(all, "1")
}

func cpuTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func residentBytes() int64 {
	statm, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		panic(err)
	}
	var total, resident int64
	if _, err := fmt.Fscan(bytes.NewReader(statm), &total, &resident); err != nil {
		panic(err)
	}
	return resident * int64(os.Getpagesize())
}
