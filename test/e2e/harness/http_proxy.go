package harness

import (
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync"
	"testing"
	"time"
)

// Answer is what an HTTPProxy says instead of asking the server; the zero value means that it does ask.
type Answer struct {
	Code       int
	RetryAfter int // seconds; 0 for no such header
	Delay      time.Duration
	// Drop ends the connection after the server has done what was asked, so that the client cannot know.
	Drop bool
}

// HTTPProxy ends the client's TLS, so that it can answer in the server's place. Users come by token: certificates do
// not get through.
type HTTPProxy struct {
	Port int

	mutex    sync.Mutex
	fault    func(*http.Request) Answer
	requests []ProxiedRequest
}

// ProxiedRequest is a request that came to the proxy.
type ProxiedRequest struct {
	When     time.Time
	Verb     string
	Path     string
	Token    string
	Answered int // the code that the proxy gave itself; 0 if it asked the server
}

// StartHTTPProxy starts such a proxy before kube-apiserver.
func (c *ControlPlane) StartHTTPProxy(t *testing.T) *HTTPProxy {
	t.Helper()
	certificate := c.Authority.Server(t)
	pair, err := tls.X509KeyPair(certificate.PEM, certificate.KeyPEM)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{pair}})
	if err != nil {
		t.Fatal(err)
	}
	p := &HTTPProxy{Port: listener.Addr().(*net.TCPAddr).Port}
	target, _ := url.Parse(fmt.Sprintf("https://127.0.0.1:%d", c.Port))
	forward := httputil.NewSingleHostReverseProxy(target)
	forward.FlushInterval = -1 // watches
	forward.Transport = &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, MaxIdleConnsPerHost: 100}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { p.serve(w, r, forward) })}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
	return p
}

func (p *HTTPProxy) serve(w http.ResponseWriter, r *http.Request, forward http.Handler) {
	p.mutex.Lock()
	fault := p.fault
	p.mutex.Unlock()
	var answer Answer
	if fault != nil {
		answer = fault(r)
	}
	p.mutex.Lock()
	p.requests = append(p.requests, ProxiedRequest{time.Now(), r.Method, r.URL.Path, r.Header.Get("Authorization"), answer.Code})
	p.mutex.Unlock()

	if answer.Delay > 0 {
		select {
		case <-time.After(answer.Delay):
		case <-r.Context().Done():
			return
		}
	}
	switch {
	case answer.Drop:
		forward.ServeHTTP(discarded{http.Header{}}, r)
		panic(http.ErrAbortHandler)
	case answer.Code != 0:
		if answer.RetryAfter > 0 {
			w.Header().Set("Retry-After", fmt.Sprint(answer.RetryAfter))
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(answer.Code)
		fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"made up by the test","code":%d}`, answer.Code)
	default:
		forward.ServeHTTP(w, r)
	}
}

type discarded struct{ header http.Header }

func (d discarded) Header() http.Header             { return d.header }
func (d discarded) Write(bytes []byte) (int, error) { return len(bytes), nil }
func (d discarded) WriteHeader(int)                 {}

// Answering gives the proxy its rule; nil for none.
func (p *HTTPProxy) Answering(fault func(*http.Request) Answer) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.fault = fault
}

// Requests are those since a moment.
func (p *HTTPProxy) Requests(since time.Time) []ProxiedRequest {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	var found []ProxiedRequest
	for _, request := range p.requests {
		if request.When.After(since) {
			found = append(found, request)
		}
	}
	return found
}
