// Package harness starts the programs that the scenarios need, breaks what lies between them, and reads what happened.
package harness

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Process is a program that a scenario started. It ends with the scenario at the latest, and with the test program
// even if that is killed.
type Process struct {
	Name    string
	LogPath string
	command *exec.Cmd
	ended   chan struct{}
}

// The kernel ends the children when the thread that started them ends, so one thread starts them all and stays.
var spawn = sync.OnceValue(func() func(*exec.Cmd) error {
	type order struct {
		command *exec.Cmd
		result  chan error
	}
	orders := make(chan order)
	go func() {
		runtime.LockOSThread()
		for next := range orders {
			next.result <- next.command.Start()
		}
	}()
	return func(command *exec.Cmd) error {
		result := make(chan error)
		orders <- order{command, result}
		return <-result
	}
})

// EndOnSignal makes Ctrl-C end the test program, and with it all that it started.
func EndOnSignal() {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		received := <-signals
		fmt.Fprintf(os.Stderr, "stopping: %v\n", received)
		os.Exit(130)
	}()
}

// StartProcess starts a program with its output in a file of the scenario's log folder.
func StartProcess(t *testing.T, logs, name, program string, arguments []string, environment ...string) *Process {
	t.Helper()
	process, err := startProcess(logs, name, program, arguments, environment)
	if err != nil {
		t.Fatalf("start %s: %v", name, err)
	}
	t.Cleanup(process.Stop)
	return process
}

func startProcess(logs, name, program string, arguments, environment []string) (*Process, error) {
	process := &Process{Name: name, LogPath: filepath.Join(logs, name+".log"), ended: make(chan struct{})}
	log, err := os.OpenFile(process.LogPath, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	fmt.Fprintf(log, "# %s %s\n", program, strings.Join(arguments, " "))
	process.command = exec.Command(program, arguments...)
	process.command.Env = append(os.Environ(), environment...)
	process.command.Stdout, process.command.Stderr = log, log
	// A group of its own, so that the terminal's Ctrl-C reaches the test program alone.
	process.command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := spawn()(process.command); err != nil {
		return nil, err
	}
	go func() {
		_ = process.command.Wait()
		close(process.ended)
	}()
	return process, nil
}

// Signal sends a signal; a process that has ended is left alone.
func (p *Process) Signal(which syscall.Signal) {
	if !p.Ended() {
		_ = p.command.Process.Signal(which)
	}
}

// Ended says whether the process is gone.
func (p *Process) Ended() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// WaitEnd waits for the end of the process and gives its exit code; -1 for a signal.
func (p *Process) WaitEnd(limit time.Duration) (int, error) {
	select {
	case <-p.ended:
		return p.command.ProcessState.ExitCode(), nil
	case <-time.After(limit):
		return 0, fmt.Errorf("%s still runs after %v", p.Name, limit)
	}
}

// Stop ends the process in a friendly way and, after ten seconds, in the other.
func (p *Process) Stop() {
	p.Signal(syscall.SIGCONT)
	p.Signal(syscall.SIGTERM)
	if _, err := p.WaitEnd(10 * time.Second); err != nil {
		p.Kill()
	}
}

// Kill ends the process at once, as a power cut would.
func (p *Process) Kill() {
	p.Signal(syscall.SIGKILL)
	<-p.ended
}

// Pid is the process's number.
func (p *Process) Pid() int { return p.command.Process.Pid }

// Log is what the process wrote so far.
func (p *Process) Log() string {
	text, _ := os.ReadFile(p.LogPath)
	return string(text)
}

// CPU is the processor time that the process has used.
func (p *Process) CPU() (time.Duration, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.Pid()))
	if err != nil {
		return 0, err
	}
	_, after, found := strings.Cut(string(text), ") ")
	fields := strings.Fields(after)
	if !found || len(fields) < 13 {
		return 0, errors.New("unreadable /proc/PID/stat")
	}
	user, _ := strconv.ParseInt(fields[11], 10, 64)
	system, _ := strconv.ParseInt(fields[12], 10, 64)
	const ticksPerSecond = 100
	return time.Duration(user+system) * time.Second / ticksPerSecond, nil
}

// Resident is the memory that the process holds, in MiB.
func (p *Process) Resident() (int, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.Pid()))
	if err != nil {
		return 0, err
	}
	for _, line := range strings.Split(string(text), "\n") {
		if rest, found := strings.CutPrefix(line, "VmRSS:"); found {
			kib, err := strconv.Atoi(strings.Fields(rest)[0])
			return kib / 1024, err
		}
	}
	return 0, errors.New("no VmRSS")
}

// SocketsOf are the inodes of the sockets that a process has open.
func SocketsOf(pid int) (map[string]bool, error) {
	folder := fmt.Sprintf("/proc/%d/fd", pid)
	files, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	found := map[string]bool{}
	for _, file := range files {
		target, err := os.Readlink(filepath.Join(folder, file.Name()))
		if inode, is := strings.CutPrefix(target, "socket:["); err == nil && is {
			found[strings.TrimSuffix(inode, "]")] = true
		}
	}
	return found, nil
}
