// Package examples runs the example programs against a service that counts calls.
package examples

import (
	"bufio"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// A counter answers every request with a status, and keeps the bodies.
type counter struct {
	status int
	mu     sync.Mutex
	bodies strings.Builder
}

func (c *counter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	reader := io.Reader(r.Body)
	if r.Header.Get("Content-Encoding") == "gzip" {
		if unzipped, err := gzip.NewReader(r.Body); err == nil {
			reader = unzipped
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	_, _ = io.Copy(&c.bodies, reader)
	w.WriteHeader(c.status)
}

func (c *counter) has(t *testing.T, calls int, parts ...string) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	if got := strings.Count(c.bodies.String(), `"messageId"`); got != calls {
		t.Errorf("%d calls arrived, not %d:\n%s", got, calls, c.bodies.String())
	}
	for _, part := range parts {
		if !strings.Contains(c.bodies.String(), part) {
			t.Errorf("no %s in\n%s", part, c.bodies.String())
		}
	}
}

func startService(t *testing.T, status int) (*counter, string) {
	service := &counter{status: status}
	server := httptest.NewServer(service)
	t.Cleanup(server.Close)
	return service, server.URL
}

var built struct {
	sync.Once
	folder string
	err    error
}

// program returns the command of an example. All are built once.
func program(t *testing.T, name string, arguments ...string) *exec.Cmd {
	t.Helper()
	built.Do(func() {
		built.folder, built.err = os.MkdirTemp("", "analytics-go-examples-")
		if built.err == nil {
			var output []byte
			if output, built.err = exec.Command("go", "build", "-o", built.folder+string(filepath.Separator), "./...").CombinedOutput(); built.err != nil {
				t.Logf("%s", output)
			}
		}
	})
	if built.err != nil {
		t.Fatal(built.err)
	}
	command := exec.Command(filepath.Join(built.folder, name), arguments...)
	command.Dir = t.TempDir()
	command.Stderr = os.Stderr
	return command
}

func TestMain(m *testing.M) {
	code := m.Run()
	_ = os.RemoveAll(built.folder)
	os.Exit(code)
}

func TestTheServerSendsItsCallsWhenItIsTerminated(t *testing.T) {
	service, url := startService(t, http.StatusOK)
	command := program(t, "server", "127.0.0.1:0", url, "wk_demo")
	output, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(output).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.Post(strings.TrimSpace(strings.TrimPrefix(line, "listening on ")), "text/plain", strings.NewReader("ada"))
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != http.StatusNoContent {
		t.Errorf("answered %d", response.StatusCode)
	}
	if err := command.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := command.Wait(); err != nil {
		t.Error(err)
	}
	service.has(t, 1, `"userId":"ada"`, `"userAgent":"Go-http-client/1.1"`)
}

func TestTheCommandExitsWithOneWhenItsCallWasNotSent(t *testing.T) {
	service, url := startService(t, http.StatusOK)
	if err := program(t, "cli", url, "wk_demo", "ada", "Report Created", "format=pdf").Run(); err != nil {
		t.Error(err)
	}
	service.has(t, 1, `"properties":{"format":"pdf"}`)
	_, url = startService(t, http.StatusUnauthorized)
	for _, arguments := range [][]string{{url, "wk_wrong", "ada", "E"}, {url, "wk_demo", "", "E"}} {
		command := program(t, "cli", arguments...)
		command.Stderr = nil
		if err := command.Run(); err == nil || command.ProcessState.ExitCode() != 1 {
			t.Errorf("%v: %v", arguments, err)
		}
	}
}

func TestTheFunctionSendsBeforeItAnswers(t *testing.T) {
	service, url := startService(t, http.StatusOK)
	command := program(t, "serverless", url, "wk_demo")
	input, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	output, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(output)
	for n, user := range []string{"ada", "grace"} {
		if _, err := io.WriteString(input, user+"\n"); err != nil {
			t.Fatal(err)
		}
		if line, err := lines.ReadString('\n'); err != nil || line != "hello "+user+" <nil>\n" {
			t.Fatalf("answered %q, %v", line, err)
		}
		service.has(t, n+1)
	}
	input.Close()
	if err := command.Wait(); err != nil {
		t.Error(err)
	}
}

func TestTheWorkerImportsItsInput(t *testing.T) {
	service, url := startService(t, http.StatusOK)
	folder := t.TempDir()
	command := program(t, "worker", url, "wk_demo", folder)
	command.Stdin = strings.NewReader(`{"id":"i-1","user":"ada","event":"Order Completed","at":"2014-02-03T04:05:06Z","properties":{"id":9007199254740993,"creditCard":"4111"}}
{"user":"ada","event":"Health Checked"}`)
	if err := command.Run(); err != nil {
		t.Error(err)
	}
	service.has(t, 1, `"messageId":"i-1","timestamp":"2014-02-03T04:05:06Z","sentAt":null`, `"properties":{"id":9007199254740993}`)
}
