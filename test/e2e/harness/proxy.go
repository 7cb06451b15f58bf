package harness

import (
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Proxy stands between a client and kube-apiserver and passes bytes on, until it is told to do worse.
type Proxy struct {
	Port     int
	target   string
	listener net.Listener

	mutex       sync.Mutex
	connections map[*proxied]struct{}
	refusing    bool
	stalled     bool
	cutAfter    int64 // of new and existing connections, bytes that the client still gets; negative: no limit
	accepted    []time.Time
}

type proxied struct {
	client, server net.Conn
	left           atomic.Int64
	limited        atomic.Bool

	mutex   sync.Mutex
	changed *sync.Cond // stalled or closed
	stalled bool
	closed  bool
}

// StartProxy starts a proxy before a port of loopback.
func StartProxy(t *testing.T, port int) *Proxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{
		Port: listener.Addr().(*net.TCPAddr).Port, target: fmt.Sprintf("127.0.0.1:%d", port),
		listener: listener, connections: map[*proxied]struct{}{}, cutAfter: -1,
	}
	go p.accept()
	t.Cleanup(func() {
		_ = listener.Close()
		p.Refuse()
	})
	return p
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		go p.serve(client)
	}
}

func (p *Proxy) serve(client net.Conn) {
	p.mutex.Lock()
	p.accepted = append(p.accepted, time.Now())
	refusing := p.refusing
	p.mutex.Unlock()
	if refusing {
		reset(client)
		return
	}
	server, err := net.Dial("tcp", p.target)
	if err != nil {
		reset(client)
		return
	}
	connection := &proxied{client: client, server: server}
	connection.changed = sync.NewCond(&connection.mutex)
	p.mutex.Lock()
	connection.stall(p.stalled)
	if p.cutAfter >= 0 {
		connection.left.Store(p.cutAfter)
		connection.limited.Store(true)
	}
	p.connections[connection] = struct{}{}
	p.mutex.Unlock()

	var both sync.WaitGroup
	both.Go(func() { connection.copyToServer() })
	both.Go(func() { connection.copyToClient() })
	both.Wait()
	p.mutex.Lock()
	delete(p.connections, connection)
	p.mutex.Unlock()
}

func (c *proxied) copyToServer() {
	buffer := make([]byte, 32<<10)
	for {
		n, err := c.client.Read(buffer)
		if n > 0 {
			c.waitIfStalled()
			if _, err := c.server.Write(buffer[:n]); err != nil {
				break
			}
		}
		if err != nil {
			break
		}
	}
	c.close()
}

func (c *proxied) copyToClient() {
	buffer := make([]byte, 32<<10)
	for {
		n, err := c.server.Read(buffer)
		if n > 0 {
			c.waitIfStalled()
			if c.limited.Load() {
				if left := c.left.Add(-int64(n)); left <= 0 {
					// The rest of the frame never comes.
					_, _ = c.client.Write(buffer[:max(0, int64(n)+left)])
					break
				}
			}
			if _, err := c.client.Write(buffer[:n]); err != nil {
				break
			}
		}
		if err != nil {
			break
		}
	}
	c.close()
}

func (c *proxied) waitIfStalled() {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	for c.stalled && !c.closed {
		c.changed.Wait()
	}
}

func (c *proxied) stall(stalled bool) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.stalled = stalled
	c.changed.Broadcast()
}

func (c *proxied) close() {
	reset(c.client)
	_ = c.server.Close()
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.closed = true
	c.changed.Broadcast()
}

// reset ends a connection as a crash does: with no goodbye.
func reset(connection net.Conn) {
	if tcp, isTCP := connection.(*net.TCPConn); isTCP {
		_ = tcp.SetLinger(0)
	}
	_ = connection.Close()
}

// Cut ends all connections now; new ones are served.
func (p *Proxy) Cut() {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	for connection := range p.connections {
		connection.close()
	}
}

// CutAfter ends every connection, new ones too, once the client got this many bytes more; negative: no longer.
func (p *Proxy) CutAfter(bytes int64) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.cutAfter = bytes
	for connection := range p.connections {
		connection.left.Store(bytes)
		connection.limited.Store(bytes >= 0)
	}
}

// Refuse ends all connections and takes no new ones.
func (p *Proxy) Refuse() {
	p.mutex.Lock()
	p.refusing = true
	p.mutex.Unlock()
	p.Cut()
}

// Serve takes connections again.
func (p *Proxy) Serve() {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.refusing = false
}

// StallConnections passes nothing on over the connections that are open: they look alive and deliver nothing, for
// ever. New connections work.
func (p *Proxy) StallConnections() {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	for connection := range p.connections {
		connection.stall(true)
	}
}

// Stall does the same to new connections too, until Resume.
func (p *Proxy) Stall() {
	p.mutex.Lock()
	p.stalled = true
	p.mutex.Unlock()
	p.StallConnections()
}

// Resume passes on what was held back.
func (p *Proxy) Resume() {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.stalled = false
	for connection := range p.connections {
		connection.stall(false)
	}
}

// Accepted is how many connections the client opened since a moment.
func (p *Proxy) Accepted(since time.Time) int {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	count := 0
	for _, when := range p.accepted {
		if when.After(since) {
			count++
		}
	}
	return count
}
