package scenarios

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth/e2e/harness"
)

const selectedNode = "volume.kubernetes.io/selected-node"

// volumeControllers are those that bind volumes. Nobody provisions but the scenarios.
var volumeControllers = harness.Options{
	Controllers: []string{"persistentvolume-binder-controller", "persistentvolumeclaim-protection-controller"},
}

func createClass(t *testing.T, c *harness.ControlPlane, name, provisioner string, mode storagev1.VolumeBindingMode) {
	t.Helper()
	if _, err := c.Admin.StorageV1().StorageClasses().Create(context.Background(), &storagev1.StorageClass{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Provisioner: provisioner, VolumeBindingMode: &mode,
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

func createClaim(t *testing.T, c *harness.ControlPlane, name, class string) {
	t.Helper()
	if _, err := c.Admin.CoreV1().PersistentVolumeClaims(harness.Namespace).Create(context.Background(), &v1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: v1.PersistentVolumeClaimSpec{
			StorageClassName: &class, AccessModes: []v1.PersistentVolumeAccessMode{v1.ReadWriteOnce},
			Resources: v1.VolumeResourceRequirements{Requests: v1.ResourceList{v1.ResourceStorage: resource.MustParse("1Gi")}},
		},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// localVolume is a volume of one node, for a claim if it is given.
func localVolume(name, class, node string, claim *v1.PersistentVolumeClaim) *v1.PersistentVolume {
	volume := &v1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: v1.PersistentVolumeSpec{
			StorageClassName: class, AccessModes: []v1.PersistentVolumeAccessMode{v1.ReadWriteOnce},
			Capacity:                      v1.ResourceList{v1.ResourceStorage: resource.MustParse("1Gi")},
			PersistentVolumeReclaimPolicy: v1.PersistentVolumeReclaimRetain,
			PersistentVolumeSource:        v1.PersistentVolumeSource{Local: &v1.LocalVolumeSource{Path: "/data"}},
			NodeAffinity: &v1.VolumeNodeAffinity{Required: &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{{
				MatchExpressions: []v1.NodeSelectorRequirement{{Key: v1.LabelHostname, Operator: v1.NodeSelectorOpIn, Values: []string{node}}},
			}}}},
		},
	}
	if claim != nil {
		volume.Spec.ClaimRef = &v1.ObjectReference{
			Kind: "PersistentVolumeClaim", APIVersion: "v1", Namespace: claim.Namespace, Name: claim.Name, UID: claim.UID,
		}
	}
	return volume
}

func createVolume(t *testing.T, c *harness.ControlPlane, volume *v1.PersistentVolume) {
	t.Helper()
	if _, err := c.Admin.CoreV1().PersistentVolumes().Create(context.Background(), volume, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

func using(claim string) func(*v1.Pod) {
	return func(pod *v1.Pod) {
		pod.Spec.Volumes = []v1.Volume{{Name: "data", VolumeSource: v1.VolumeSource{
			PersistentVolumeClaim: &v1.PersistentVolumeClaimVolumeSource{ClaimName: claim},
		}}}
	}
}

func getClaim(t *testing.T, c *harness.ControlPlane, name string) *v1.PersistentVolumeClaim {
	t.Helper()
	claim, err := c.Admin.CoreV1().PersistentVolumeClaims(harness.Namespace).Get(context.Background(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return claim
}

// waitSelected waits until the scheduler has chosen a node for a claim that is to be provisioned.
func waitSelected(t *testing.T, c *harness.ControlPlane, name, not string) (*v1.PersistentVolumeClaim, string) {
	t.Helper()
	var claim *v1.PersistentVolumeClaim
	harness.Eventually(t, 30*time.Second, name+" has a node", func() error {
		claim = getClaim(t, c, name)
		if node := claim.Annotations[selectedNode]; node == "" || node == not {
			return fmt.Errorf("annotations: %v", claim.Annotations)
		}
		return nil
	})
	return claim, claim.Annotations[selectedNode]
}

// checkVolumesBoundOnce fails the scenario if two claims have one volume or two volumes one claim.
func checkVolumesBoundOnce(t *testing.T, c *harness.ControlPlane) {
	t.Helper()
	claims, err := c.Admin.CoreV1().PersistentVolumeClaims(harness.Namespace).List(context.Background(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	volumes, err := c.Admin.CoreV1().PersistentVolumes().List(context.Background(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	byVolume, byClaim := map[string]string{}, map[string]string{}
	for _, claim := range claims.Items {
		if claim.Spec.VolumeName == "" {
			continue
		}
		if other, taken := byVolume[claim.Spec.VolumeName]; taken {
			t.Errorf("%s belongs to %s and %s", claim.Spec.VolumeName, other, claim.Name)
		}
		byVolume[claim.Spec.VolumeName] = claim.Name
	}
	for _, volume := range volumes.Items {
		if volume.Spec.ClaimRef == nil {
			continue
		}
		if other, taken := byClaim[volume.Spec.ClaimRef.Name]; taken {
			t.Errorf("%s has %s and %s", volume.Spec.ClaimRef.Name, other, volume.Name)
		}
		byClaim[volume.Spec.ClaimRef.Name] = volume.Name
	}
}

// Pods get volumes of the nodes that they are put on, and as many as there are.
func TestVolumesLocalAndLate(t *testing.T) {
	harness.OnBothServers(t, volumeControllers, volumesLocalAndLate)
}

func volumesLocalAndLate(t *testing.T, c *harness.ControlPlane) {
	c.CreateNodes(t, 4, "8", "16Gi")
	createClass(t, c, "local", "kubernetes.io/no-provisioner", storagev1.VolumeBindingWaitForFirstConsumer)
	for i := range 4 {
		for j := range 2 {
			createVolume(t, c, localVolume(fmt.Sprintf("volume-%d-%d", i, j), "local", fmt.Sprintf("node-%d", i), nil))
		}
	}
	scheduler := c.StartScheduler(t, harness.SchedulerOptions{})
	scheduler.WaitReady(t)
	for i := range 9 {
		createClaim(t, c, fmt.Sprintf("claim-%d", i), "local")
		c.CreatePod(t, harness.MakePod(fmt.Sprintf("pod-%d", i), "100m", using(fmt.Sprintf("claim-%d", i))))
	}
	harness.Eventually(t, time.Minute, "eight pods have the eight volumes", func() error {
		bound := 0
		for _, pod := range c.Pods(t) {
			if pod.Spec.NodeName != "" {
				bound++
			}
		}
		return wantEqual("bound pods", bound, 8)
	})
	late := ""
	for _, pod := range c.Pods(t) {
		if pod.Spec.NodeName == "" {
			late = pod.Name
			continue
		}
		claim := getClaim(t, c, pod.Spec.Volumes[0].PersistentVolumeClaim.ClaimName)
		volume, err := c.Admin.CoreV1().PersistentVolumes().Get(context.Background(), claim.Spec.VolumeName, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if node := volume.Spec.NodeAffinity.Required.NodeSelectorTerms[0].MatchExpressions[0].Values[0]; node != pod.Spec.NodeName {
			t.Errorf("%s is on %s and its volume on %s", pod.Name, pod.Spec.NodeName, node)
		}
	}
	harness.Eventually(t, 10*time.Second, "the ninth says why it waits", func() error {
		condition := harness.Condition(c.Pod(t, late), v1.PodScheduled)
		if condition == nil || condition.Reason != v1.PodReasonUnschedulable {
			return fmt.Errorf("condition: %v", condition)
		}
		want := "0/4 nodes are available: 4 node(s) didn't find available persistent volumes to bind. preemption: not eligible due to preemptionPolicy=Never.."
		if len(condition.Message) < 70 || condition.Message[:70] != want[:70] {
			return errors.New(condition.Message)
		}
		return nil
	})
	// A volume more, and it goes on by itself.
	createVolume(t, c, localVolume("more", "local", "node-2", nil))
	if node := c.WaitPodBound(t, late, 30*time.Second); node != "node-2" {
		t.Errorf("%s is on %s", late, node)
	}
	checkVolumesBoundOnce(t, c)
	checkNothingRefused(t, c)
}

// A claim that is bound as soon as there is a volume holds its pod up until then.
func TestVolumesImmediate(t *testing.T) {
	harness.OnBothServers(t, volumeControllers, volumesImmediate)
}

func volumesImmediate(t *testing.T, c *harness.ControlPlane) {
	c.CreateNodes(t, 3, "8", "16Gi")
	createClass(t, c, "now", "kubernetes.io/no-provisioner", storagev1.VolumeBindingImmediate)
	scheduler := c.StartScheduler(t, harness.SchedulerOptions{})
	scheduler.WaitReady(t)
	createClaim(t, c, "claim", "now")
	c.CreatePod(t, harness.MakePod("pod", "100m", using("claim")))
	harness.Eventually(t, 20*time.Second, "the pod says why it waits", func() error {
		condition := harness.Condition(c.Pod(t, "pod"), v1.PodScheduled)
		if condition == nil {
			return errors.New("no condition")
		}
		const want = "0/3 nodes are available: pod has unbound immediate PersistentVolumeClaims."
		if len(condition.Message) < len(want) || condition.Message[:len(want)] != want {
			return errors.New(condition.Message)
		}
		return nil
	})
	createVolume(t, c, localVolume("volume", "now", "node-1", nil))
	if node := c.WaitPodBound(t, "pod", time.Minute); node != "node-1" {
		t.Errorf("the pod is on %s and its volume on node-1", node)
	}
	checkNothingRefused(t, c)
}

// A claim goes while the pod waits for its volume, and another of its name comes.
func TestVolumesClaimDeletedWhileWaiting(t *testing.T) {
	harness.OnBothServers(t, volumeControllers, volumesClaimDeletedWhileWaiting)
}

func volumesClaimDeletedWhileWaiting(t *testing.T, c *harness.ControlPlane) {
	c.CreateNodes(t, 2, "8", "16Gi")
	createClass(t, c, "made", "example.com/nobody", storagev1.VolumeBindingWaitForFirstConsumer)
	scheduler := c.StartScheduler(t, harness.SchedulerOptions{})
	scheduler.WaitReady(t)
	createClaim(t, c, "claim", "made")
	c.CreatePod(t, harness.MakePod("pod", "100m", using("claim")))
	waitSelected(t, c, "claim", "")

	if err := c.Admin.CoreV1().PersistentVolumeClaims(harness.Namespace).Delete(context.Background(), "claim", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	harness.Eventually(t, 60*time.Second, "the pod is given up for now", func() error {
		condition := harness.Condition(c.Pod(t, "pod"), v1.PodScheduled)
		if condition == nil || condition.Status != v1.ConditionFalse {
			return fmt.Errorf("condition: %v", condition)
		}
		return nil
	})
	harness.Eventually(t, 30*time.Second, "the claim is gone", func() error {
		if _, err := c.Admin.CoreV1().PersistentVolumeClaims(harness.Namespace).Get(context.Background(), "claim", metav1.GetOptions{}); err == nil {
			return errors.New("it is still there")
		}
		return nil
	})
	createClaim(t, c, "claim", "made")
	claim, node := waitSelected(t, c, "claim", "")
	createVolume(t, c, localVolume("volume", "made", node, claim))
	if got := c.WaitPodBound(t, "pod", time.Minute); got != node {
		t.Errorf("the pod is on %s, its volume on %s", got, node)
	}
	checkVolumesBoundOnce(t, c)
}

// Provisioning fails on the first node; the pod goes to another.
func TestVolumesProvisioningMovesOn(t *testing.T) {
	harness.OnBothServers(t, volumeControllers, volumesProvisioningMovesOn)
}

func volumesProvisioningMovesOn(t *testing.T, c *harness.ControlPlane) {
	c.CreateNodes(t, 2, "8", "16Gi")
	createClass(t, c, "made", "example.com/nobody", storagev1.VolumeBindingWaitForFirstConsumer)
	scheduler := c.StartScheduler(t, harness.SchedulerOptions{})
	scheduler.WaitReady(t)
	createClaim(t, c, "claim", "made")
	c.CreatePod(t, harness.MakePod("pod", "100m", using("claim")))
	_, first := waitSelected(t, c, "claim", "")

	// As a provisioner does that cannot: the choice is taken back, and the node cannot be chosen again.
	c.Kubectl(t, 10*time.Second, "cordon", first)
	if _, err := c.Admin.CoreV1().PersistentVolumeClaims(harness.Namespace).Patch(context.Background(), "claim", "application/merge-patch+json",
		[]byte(`{"metadata":{"annotations":{"`+selectedNode+`":null}}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	claim, second := waitSelected(t, c, "claim", first)
	createVolume(t, c, localVolume("volume", "made", second, claim))
	if got := c.WaitPodBound(t, "pod", time.Minute); got != second {
		t.Errorf("the pod is on %s, its volume on %s", got, second)
	}
	checkVolumesBoundOnce(t, c)
	checkNothingRefused(t, c)
}

// The scheduler dies while a volume is being made; the next one keeps the node, though others want the place.
func TestVolumesSchedulerKilledWhileWaiting(t *testing.T) {
	harness.OnBothServers(t, volumeControllers, volumesSchedulerKilledWhileWaiting)
}

func volumesSchedulerKilledWhileWaiting(t *testing.T, c *harness.ControlPlane) {
	c.CreateNodes(t, 2, "1", "16Gi")
	createClass(t, c, "made", "example.com/nobody", storagev1.VolumeBindingWaitForFirstConsumer)
	scheduler := c.StartScheduler(t, harness.SchedulerOptions{})
	scheduler.WaitReady(t)
	createClaim(t, c, "claim", "made")
	c.CreatePod(t, harness.MakePod("pod", "1", using("claim")))
	claim, node := waitSelected(t, c, "claim", "")
	// The two are written at the same time.
	harness.Eventually(t, 10*time.Second, "the pod is nominated", func() error {
		return wantEqual("nominated", c.Pod(t, "pod").Status.NominatedNodeName, node)
	})
	scheduler.Kill()
	c.CreatePods(t, "rival", 3, "1")
	scheduler = c.StartScheduler(t, harness.SchedulerOptions{})
	scheduler.WaitReady(t)
	harness.Eventually(t, 20*time.Second, "a rival has the other node", func() error {
		bound := 0
		for _, pod := range c.Pods(t) {
			if pod.Spec.NodeName != "" {
				bound++
			}
		}
		return wantEqual("bound", bound, 1)
	})
	createVolume(t, c, localVolume("volume", "made", node, claim))
	if got := c.WaitPodBound(t, "pod", time.Minute); got != node {
		t.Errorf("the pod is on %s, its volume on %s", got, node)
	}
	c.CheckNoOvercommit(t)
	checkVolumesBoundOnce(t, c)
}
