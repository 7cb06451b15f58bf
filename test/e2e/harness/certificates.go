package harness

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"testing"
	"time"
)

// Authority signs certificates.
type Authority struct {
	certificate *x509.Certificate
	key         crypto.Signer
	PEM         []byte
}

// Certificate is a signed certificate with its key.
type Certificate struct {
	PEM, KeyPEM []byte
}

// NewAuthority makes an authority with a key of its own.
func NewAuthority(t *testing.T, name string) *Authority {
	t.Helper()
	key := newKey(t)
	template := &x509.Certificate{
		SerialNumber:          newSerial(t),
		Subject:               pkix.Name{CommonName: name},
		NotBefore:             time.Now().Add(-time.Hour),
		NotAfter:              time.Now().Add(24 * time.Hour),
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		BasicConstraintsValid: true,
		IsCA:                  true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatalf("certificate of %s: %v", name, err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatalf("certificate of %s: %v", name, err)
	}
	return &Authority{certificate, key, encode("CERTIFICATE", der)}
}

// Client gives a certificate that names a user and the user's groups.
func (a *Authority) Client(t *testing.T, user string, groups ...string) Certificate {
	t.Helper()
	return a.sign(t, &x509.Certificate{
		Subject:     pkix.Name{CommonName: user, Organization: groups},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
}

// Server gives a certificate for loopback.
func (a *Authority) Server(t *testing.T) Certificate {
	t.Helper()
	return a.sign(t, &x509.Certificate{
		Subject:     pkix.Name{CommonName: "kube-apiserver"},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames:    []string{"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv4(10, 0, 0, 1)},
	})
}

func (a *Authority) sign(t *testing.T, template *x509.Certificate) Certificate {
	t.Helper()
	key := newKey(t)
	template.SerialNumber = newSerial(t)
	template.NotBefore = time.Now().Add(-time.Hour)
	template.NotAfter = time.Now().Add(24 * time.Hour)
	template.KeyUsage = x509.KeyUsageDigitalSignature
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, key.Public(), a.key)
	if err != nil {
		t.Fatalf("certificate of %s: %v", template.Subject.CommonName, err)
	}
	return Certificate{encode("CERTIFICATE", der), encodeKey(t, key)}
}

// WriteFiles writes PATH.crt and PATH.key.
func (c Certificate) WriteFiles(t *testing.T, path string) {
	t.Helper()
	WriteFile(t, path+".key", c.KeyPEM)
	WriteFile(t, path+".crt", c.PEM)
}

// WriteFile replaces a file in one step, as whoever rotates a certificate or token does.
func WriteFile(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path+".new", content, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func newSerial(t *testing.T) *big.Int {
	t.Helper()
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		t.Fatal(err)
	}
	return serial
}

func encode(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

func encodeKey(t *testing.T, key *ecdsa.PrivateKey) []byte {
	t.Helper()
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return encode("EC PRIVATE KEY", der)
}

func encodePublicKey(t *testing.T, key *ecdsa.PrivateKey) []byte {
	t.Helper()
	der, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		t.Fatal(err)
	}
	return encode("PUBLIC KEY", der)
}
