package analytics

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Callbacks may do what they should not: call methods that wait for the goroutine that calls them, or never return.

func TestFlushAndCloseInACallbackDoNotWaitForThemselves(t *testing.T) {
	recorder := newRecorder()
	client := newTestClient(t, recorder)
	client.FlushAt = 1
	// Longer than the test may take: a method that waits is noticed.
	client.DrainTimeout = time.Hour
	returned := make(chan error, 3)
	client.OnSent = func([]json.RawMessage) {
		returned <- client.Flush()
		returned <- client.Close()
	}
	trackN(t, client, 0, 1)
	for _, method := range []string{"Flush", "Close"} {
		select {
		case err := <-returned:
			if !errors.Is(err, ErrInCallback) {
				t.Errorf("%s returned %v", method, err)
			}
		case <-time.After(limit):
			t.Fatalf("%s waits for its own callback", method)
		}
	}
	if err := client.Track(&Track{UserId: "ada", Event: "E"}); !errors.Is(err, ErrClosed) {
		t.Errorf("a call after Close returned %v", err)
	}
	// The same result as that of the Close of the callback, which continues in the background.
	if err := client.Close(); err != nil {
		t.Errorf("Close returned %v", err)
	}
	expectInOrder(t, recorder, 1)
}

func TestACallInACallbackDoesNotWaitForCapacity(t *testing.T) {
	client := newTestClient(t, newRecorder(answer{Status: 401}))
	client.FlushAt, client.QueueSize = 1, 1
	returned := make(chan error, 1)
	client.OnError = func(*SendError) { returned <- client.Track(&Track{UserId: "ada", Event: "E"}) }
	trackN(t, client, 0, 1)
	select {
	case err := <-returned:
		if !errors.Is(err, ErrQueueFull) || !errors.Is(err, ErrInCallback) {
			t.Errorf("the call returned %v", err)
		}
	case <-time.After(limit):
		t.Fatal("the call waits for its own callback")
	}
	var unsent *UnsentError
	if err := client.Close(); !errors.As(err, &unsent) || unsent.Reported != 1 || unsent.Refused != 1 {
		t.Errorf("Close returned %v", err)
	}
}

func TestACallbackOfAnotherClientMayFlushAndClose(t *testing.T) {
	recorder := newRecorder()
	other := newTestClient(t, recorder)
	client := newTestClient(t, newRecorder())
	returned := make(chan error, 1)
	client.OnSent = func([]json.RawMessage) {
		trackN(t, other, 0, 1)
		returned <- errors.Join(other.Flush(), other.Close())
	}
	trackN(t, client, 0, 1)
	if err := client.Close(); err != nil {
		t.Error(err)
	}
	if err := <-returned; err != nil {
		t.Error(err)
	}
	expectInOrder(t, recorder, 1)
}

func TestCloseEndsBesideACallbackThatDoesNot(t *testing.T) {
	client := newTestClient(t, newRecorder())
	client.FlushAt = 1
	called, end := make(chan struct{}), make(chan struct{})
	client.OnSent = func([]json.RawMessage) {
		close(called)
		<-end
	}
	trackN(t, client, 0, 2)
	<-called
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	client.sender.stuckAfter = time.Millisecond
	err := client.CloseContext(ctx)
	var unsent *UnsentError
	if !errors.Is(err, ErrNotDrained) || !errors.As(err, &unsent) || unsent.Queued != 1 {
		t.Errorf("Close returned %v", err)
	}
	close(end)
	<-client.sender.done
}

// OnError receives damages of the files when the client starts. It may use the client then.
func TestADamageIsReportedToACallbackThatUsesTheClient(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "0000000000000000.queue"), []byte("?"), 0o600); err != nil {
		t.Fatal(err)
	}
	recorder := newRecorder()
	client := newTestClient(t, recorder)
	client.QueueDir = folder
	reported := make(chan error, 1)
	client.OnError = func(err *SendError) {
		client.Stats()
		if err.Reason == Damaged {
			reported <- client.Track(&Track{UserId: "ada", Event: "E", MessageId: "m-1"})
		}
	}
	tracked := make(chan struct{})
	go func() {
		defer close(tracked)
		trackN(t, client, 0, 1)
	}()
	for _, done := range []func() bool{
		func() bool { <-tracked; return true },
		func() bool { return <-reported == nil },
	} {
		finished := make(chan bool, 1)
		go func() { finished <- done() }()
		select {
		case ok := <-finished:
			if !ok {
				t.Error("the call in the callback was refused")
			}
		case <-time.After(limit):
			t.Fatal("the client waits for itself when it starts")
		}
	}
	if err := client.Close(); err != nil {
		t.Error(err)
	}
	if got := len(withoutRepetitions(recorder.all())); got != 2 {
		t.Errorf("%d arrived", got)
	}
}
