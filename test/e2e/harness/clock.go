package harness

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Clock is a wall clock that can be set, for processes that are started with its environment.
type Clock struct {
	file *os.File
}

// NewClock makes a clock that shows the right time.
func NewClock(t *testing.T) *Clock {
	t.Helper()
	file, err := os.Create(filepath.Join(t.TempDir(), "clock"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	clock := &Clock{file}
	clock.Set(t, 0)
	return clock
}

// Set makes the clock fast, or slow if negative, from now on.
func (c *Clock) Set(t *testing.T, by time.Duration) {
	t.Helper()
	bytes := binary.NativeEndian.AppendUint64(nil, uint64(int64(by.Seconds())))
	if _, err := c.file.WriteAt(bytes, 0); err != nil {
		t.Fatal(err)
	}
}

// Environment makes a process go by this clock.
func (c *Clock) Environment() []string {
	return []string{"LD_PRELOAD=" + Binary("clock.so"), "BERTH_CLOCK_FILE=" + c.file.Name()}
}
