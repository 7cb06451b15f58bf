package harness

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Compact makes etcd forget everything but what is there now.
func (c *ControlPlane) Compact(t *testing.T) {
	t.Helper()
	// etcd's gateway speaks JSON, with 64-bit numbers as text.
	var status struct{ Header struct{ Revision string } }
	c.askEtcd(t, "/v3/maintenance/status", "{}", &status)
	var done struct{}
	c.askEtcd(t, "/v3/kv/compaction", fmt.Sprintf(`{"revision": %q, "physical": true}`, status.Header.Revision), &done)
}

func (c *ControlPlane) askEtcd(t *testing.T, path, body string, into any) {
	t.Helper()
	answer, err := http.Post(fmt.Sprintf("http://127.0.0.1:%d%s", c.etcdPort, path), "application/json", bytes.NewBufferString(body))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("etcd %s: %s %s %v", path, answer.Status, text, err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatalf("etcd %s: %v", path, err)
	}
}

// WaitServedBy waits until kube-apiserver serves with a certificate of an authority.
func (c *ControlPlane) WaitServedBy(t *testing.T, authority *Authority) {
	t.Helper()
	Eventually(t, 100*time.Second, "the server has its new certificate", func() error {
		connection, err := tls.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", c.Port), &tls.Config{InsecureSkipVerify: true})
		if err != nil {
			return err
		}
		defer connection.Close()
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM(authority.PEM)
		served := connection.ConnectionState().PeerCertificates
		if len(served) == 0 {
			return errors.New("no certificate")
		}
		_, err = served[0].Verify(x509.VerifyOptions{Roots: roots})
		return err
	})
}

// GiveSchedulerRights binds what system:kube-scheduler may do to somebody else, so that the audit log tells several
// schedulers apart.
func (c *ControlPlane) GiveSchedulerRights(t *testing.T, subject rbacv1.Subject) {
	t.Helper()
	if subject.Kind != "ServiceAccount" {
		subject.APIGroup = rbacv1.GroupName
	}
	ctx := context.Background()
	for _, role := range []string{"system:kube-scheduler", "system:volume-scheduler"} {
		if _, err := c.Admin.RbacV1().ClusterRoleBindings().Create(ctx, &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{GenerateName: "e2e-"},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
			Subjects:   []rbacv1.Subject{subject},
		}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	for _, role := range []string{"system::leader-locking-kube-scheduler", "extension-apiserver-authentication-reader"} {
		if _, err := c.Admin.RbacV1().RoleBindings(metav1.NamespaceSystem).Create(ctx, &rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{GenerateName: "e2e-"},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role},
			Subjects:   []rbacv1.Subject{subject},
		}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
}
