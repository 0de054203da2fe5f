package analytics

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/tailrace/tailrace/packages/analytics-go/v2/internal/journal"
)

func trackN(t *testing.T, client *Client, from, to int) {
	t.Helper()
	for n := from; n < to; n++ {
		if err := client.Track(&Track{UserId: "ada", Event: "E", MessageId: fmt.Sprintf("m-%d", n)}); err != nil {
			t.Fatal(err)
		}
	}
}

// unavailable makes a client for a folder, and an endpoint where nothing listens.
func unavailable(folder string) *Client {
	server := httptest.NewServer(nil)
	server.Close()
	client := New("wk_test")
	client.Endpoint = server.URL
	client.QueueDir = folder
	client.Logger.SetOutput(&lineBuffer{})
	return client
}

func expectInOrder(t *testing.T, recorder *recorder, count int) {
	t.Helper()
	got := withoutRepetitions(recorder.all())
	if len(got) != count {
		t.Fatalf("%d arrived, not %d", len(got), count)
	}
	for n, message := range got {
		if id := message.(map[string]any)["messageId"]; id != fmt.Sprintf("m-%d", n) {
			t.Fatalf("%v arrived as number %d", id, n)
		}
	}
}

func TestMessagesThatCloseCannotSendAreSentAfterTheNextStart(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "queue")
	before := runtime.NumGoroutine()
	client := unavailable(folder)
	client.OnError = func(err *SendError) { t.Errorf("reported %v", err) }
	trackN(t, client, 0, 100)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var unsent *UnsentError
	if err := client.CloseContext(ctx); !errors.Is(err, ErrNotDrained) || !errors.As(err, &unsent) || unsent.Kept != 100 || unsent.Reported != 0 {
		t.Errorf("Close returned %v", err)
	}
	if stats := client.Stats(); stats.Kept != 100 || stats.Queued != 0 {
		t.Errorf("%+v", stats)
	}
	eventually(t, "goroutines", func() bool { return runtime.NumGoroutine() <= before })

	recorder := newRecorder()
	client = newTestClient(t, recorder)
	client.QueueDir = folder
	// Smaller than what is stored: calls wait until it is sent.
	client.QueueSize = 10
	trackN(t, client, 100, 150)
	if err := client.Close(); err != nil {
		t.Error(err)
	}
	expectInOrder(t, recorder, 150)
	left, err := filepath.Glob(filepath.Join(folder, "*.queue"))
	if err != nil || len(left) > 0 {
		t.Errorf("%v are left (%v)", left, err)
	}
}

func TestAFolderOfAnotherClientIsRefused(t *testing.T) {
	folder := t.TempDir()
	first := newTestClient(t, newRecorder())
	first.QueueDir = folder
	trackN(t, first, 0, 1)
	second := newTestClient(t, newRecorder())
	second.QueueDir = folder
	var field *FieldError
	if err := second.Track(&Track{UserId: "ada", Event: "E"}); !errors.As(err, &field) || field.Field != "QueueDir" || !errors.Is(err, journal.ErrInUse) {
		t.Errorf("the second client returned %v", err)
	}
	if err := first.Close(); err != nil {
		t.Error(err)
	}
	third := newTestClient(t, newRecorder())
	third.QueueDir = folder
	trackN(t, third, 0, 1)
	if err := third.Close(); err != nil {
		t.Error(err)
	}
}

func TestATornRecordIsReported(t *testing.T) {
	folder := t.TempDir()
	client := unavailable(folder)
	trackN(t, client, 0, 3)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_ = client.CloseContext(ctx)
	stored, err := filepath.Glob(filepath.Join(folder, "*.queue"))
	if err != nil || len(stored) != 1 {
		t.Fatal(stored, err)
	}
	info, err := os.Stat(stored[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(stored[0], info.Size()-1); err != nil {
		t.Fatal(err)
	}
	recorder := newRecorder()
	client = newTestClient(t, recorder)
	client.QueueDir = folder
	var reported []*SendError
	client.OnError = func(err *SendError) { reported = append(reported, err) }
	if err := client.Close(); err != nil {
		t.Error(err)
	}
	expectInOrder(t, recorder, 2)
	if len(reported) != 1 || reported[0].Reason != Damaged || !errors.Is(reported[0], journal.ErrTorn) {
		t.Errorf("reported %v", reported)
	}
}

func TestMessagesOfARemovedFolderAreReportedAndNotKept(t *testing.T) {
	client := unavailable(filepath.Join(t.TempDir(), "queue"))
	reported := 0
	client.OnError = func(err *SendError) { reported += len(err.Messages) }
	trackN(t, client, 0, 1)
	if err := os.RemoveAll(client.QueueDir); err != nil {
		t.Fatal(err)
	}
	trackN(t, client, 1, 3)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	err := client.CloseContext(ctx)
	if stats := client.Stats(); unsentIn(err) != 3 || reported != 3 || stats.Kept != 0 {
		t.Errorf("%d reported, %+v, Close returned %v", reported, stats, err)
	}
}

func TestAMessageThatCannotBeStoredIsRefused(t *testing.T) {
	recorder := newRecorder()
	client := newTestClient(t, recorder)
	client.QueueDir = t.TempDir()
	trackN(t, client, 0, 1)
	add := client.queue.store
	full := fmt.Errorf("%w: %w", ErrNotStored, os.ErrPermission)
	client.queue.store = func([]byte) (uint64, error) { return 0, full }
	if err := client.Track(&Track{UserId: "ada", Event: "E"}); !errors.Is(err, ErrNotStored) || !errors.Is(err, os.ErrPermission) {
		t.Errorf("returned %v", err)
	}
	client.queue.store = add
	trackN(t, client, 1, 2)
	if err := client.Close(); unsentIn(err) != 1 {
		t.Errorf("Close returned %v", err)
	}
	expectInOrder(t, recorder, 2)
}

// TestHelperTracksUntilItIsKilled is the process of the next test.
func TestHelperTracksUntilItIsKilled(t *testing.T) {
	folder := os.Getenv("ANALYTICS_TEST_QUEUE_DIR")
	if folder == "" {
		return
	}
	client := unavailable(folder)
	client.QueueSize = 1_000_000
	for n := 0; ; n++ {
		trackN(t, client, n, n+1)
		fmt.Println(n)
	}
}

func TestEachCallThatReturnedSurvivesAKill(t *testing.T) {
	folder := t.TempDir()
	process := exec.Command(os.Args[0], "-test.run=^TestHelperTracksUntilItIsKilled$")
	process.Env = append(os.Environ(), "ANALYTICS_TEST_QUEUE_DIR="+folder)
	output, err := process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	accepted := 0
	lines := bufio.NewScanner(output)
	for lines.Scan() {
		if lines.Text() == fmt.Sprint(accepted) {
			accepted++
		}
		if accepted == 500 {
			if err := process.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := process.Wait(); err == nil || !strings.Contains(err.Error(), "kill") {
		t.Fatalf("the process ended with %v", err)
	}

	recorder := newRecorder()
	client := newTestClient(t, recorder)
	client.QueueDir = folder
	client.OnError = func(err *SendError) {
		// The process may have been killed in the middle of a record.
		if err.Reason != Damaged {
			t.Errorf("reported %v", err)
		}
	}
	client.DrainTimeout = time.Minute
	if err := client.Close(); err != nil {
		t.Error(err)
	}
	got := withoutRepetitions(recorder.all())
	// A call may have been stored, and its number not printed.
	if len(got) < accepted || accepted < 500 {
		t.Errorf("%d of %d arrived", len(got), accepted)
	}
	expectInOrder(t, recorder, len(got))
}

func TestTheAgeOfAMessageCountsFromItsCallAlsoAfterARestart(t *testing.T) {
	folder := t.TempDir()
	files, err := journal.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	for n, age := range []time.Duration{2 * time.Hour, time.Minute, -2 * time.Hour} {
		message := fmt.Sprintf(`{"type":"track","messageId":"m-%d"}`, n)
		if _, err := files.Append([]byte(message), time.Now().Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	if err := files.Close(); err != nil {
		t.Fatal(err)
	}
	recorder := newRecorder(answer{Status: 503}, answer{Status: 503})
	client := newTestClient(t, recorder)
	client.QueueDir = folder
	var reported []*SendError
	client.OnError = func(err *SendError) { reported = append(reported, err) }
	if err := client.Close(); unsentIn(err) != 1 {
		t.Errorf("Close returned %v", err)
	}
	if len(reported) != 1 || reported[0].Reason != Expired || !strings.Contains(string(reported[0].Messages[0]), "m-0") {
		t.Errorf("reported %v", reported)
	}
	requests := recorder.all()
	if got := len(requests[len(requests)-1].batch()); got != 2 {
		t.Errorf("the last request has %d calls", got)
	}
}
