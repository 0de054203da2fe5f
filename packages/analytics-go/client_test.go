package analytics

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// newTestClient creates a client for the test's own server. It sends only on Flush, or when FlushAt messages are
// queued.
func newTestClient(t *testing.T, handler http.Handler) *Client {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	client := New("wk_test")
	client.Endpoint = server.URL
	client.FlushAfter = time.Minute
	client.DrainTimeout = time.Minute
	client.Logger = log.New(io.Discard, "", 0)
	return client
}

func TestEveryCallOfManyGoroutinesArrivesWhenHalfOfTheRequestsFail(t *testing.T) {
	t.Parallel()
	const goroutines, calls = 100, 500
	var requests atomic.Int64
	var mu sync.Mutex
	arrived := map[string]bool{}
	client := newTestClient(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		if requests.Add(1)%2 == 1 {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		mu.Lock()
		defer mu.Unlock()
		// Extracted by hand: with the race detector, a parser takes ten times as long as everything else.
		for _, after := range strings.Split(string(body), `"event":"`)[1:] {
			event, _, _ := strings.Cut(after, `"`)
			arrived[event] = true
		}
	}))
	client.DrainTimeout = 5 * time.Minute
	client.OnError = func(err *SendError) { t.Error(err) }

	var running sync.WaitGroup
	for g := 0; g < goroutines; g++ {
		running.Add(1)
		go func(g int) {
			defer running.Done()
			for n := 0; n < calls; n++ {
				if err := client.Track(&Track{UserId: "ada", Event: fmt.Sprintf("%d/%d", g, n)}); err != nil {
					t.Error(err)
				}
			}
		}(g)
	}
	running.Wait()
	if err := client.Close(); err != nil {
		t.Fatal(err)
	}
	if len(arrived) != goroutines*calls {
		t.Errorf("%d of %d calls arrived", len(arrived), goroutines*calls)
	}
	t.Logf("%d requests", requests.Load())
}

func TestWithAnUnavailableServerTheQueueStaysBoundedAndCallsFail(t *testing.T) {
	server := httptest.NewServer(nil)
	server.Close()
	client := New("wk_test")
	client.Endpoint = server.URL
	client.QueueSize, client.WhenFull = 500, Refuse
	client.DrainTimeout = 50 * time.Millisecond
	reported := 0
	client.OnError = func(err *SendError) {
		if err.Reason != ClosedEarly || err.Err == nil {
			t.Errorf("reported %v", err)
		}
		reported += len(err.Messages)
	}
	accepted, refused := 0, 0
	for n := 0; n < 10_000; n++ {
		switch err := client.Track(&Track{UserId: "ada", Event: "E"}); {
		case err == nil:
			accepted++
		case errors.Is(err, ErrQueueFull):
			refused++
		default:
			t.Fatal(err)
		}
		if held := client.Stats().Queued; held > 500 {
			t.Fatalf("%d messages are held", held)
		}
	}
	if accepted != 500 || refused != 9_500 {
		t.Errorf("%d accepted, %d refused", accepted, refused)
	}
	if err := client.Flush(); !errors.Is(err, ErrNotDrained) {
		t.Errorf("Flush returned %v", err)
	}
	if err := client.Close(); !errors.Is(err, ErrNotDrained) {
		t.Errorf("Close returned %v", err)
	}
	if reported != accepted {
		t.Errorf("%d accepted, %d reported", accepted, reported)
	}
}

func TestTheQueueIsBoundedInBytesToo(t *testing.T) {
	recorder := newRecorder(answer{Status: 200, Hold: true})
	client := newTestClient(t, recorder)
	client.FlushAt = 1
	client.QueueBytes, client.WhenFull = 50_000, Refuse
	large := func() error {
		return client.Track(&Track{UserId: "ada", Event: "E", Properties: map[string]interface{}{"text": strings.Repeat("x", 20_000)}})
	}
	for n := 0; n < 2; n++ {
		if err := large(); err != nil {
			t.Fatal(err)
		}
	}
	if err := large(); !errors.Is(err, ErrQueueFull) {
		t.Errorf("the third call returned %v", err)
	}
	recorder.releaseAll()
	if err := client.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := large(); err != nil {
		t.Errorf("with capacity again: %v", err)
	}
	if err := client.Close(); unsentIn(err) != 1 || !errors.Is(err, ErrNotSent) {
		t.Errorf("Close returned %v", err)
	}
}

func TestByDefaultACallWaitsForCapacityOrClose(t *testing.T) {
	recorder := newRecorder(answer{Status: 200, Hold: true})
	client := newTestClient(t, recorder)
	client.FlushAt, client.QueueSize = 1, 1
	if err := client.Track(&Track{UserId: "ada", Event: "first"}); err != nil {
		t.Fatal(err)
	}
	waited := make(chan error, 1)
	go func() { waited <- client.Track(&Track{UserId: "ada", Event: "second"}) }()
	recorder.await(t, 1)
	select {
	case err := <-waited:
		t.Fatalf("the second call did not wait, and returned %v", err)
	default:
	}
	recorder.releaseAll()
	if err := <-waited; err != nil {
		t.Fatal(err)
	}
	recorder.await(t, 2)

	held := newRecorder(answer{Status: 200, Hold: true})
	client = newTestClient(t, held)
	client.FlushAt, client.QueueSize = 1, 1
	if err := client.Track(&Track{UserId: "ada", Event: "first"}); err != nil {
		t.Fatal(err)
	}
	held.await(t, 1)
	go func() { waited <- client.Track(&Track{UserId: "ada", Event: "second"}) }()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := client.CloseContext(ctx); !errors.Is(err, ErrNotDrained) || !errors.Is(err, context.Canceled) {
		t.Errorf("Close returned %v", err)
	}
	if err := <-waited; !errors.Is(err, ErrClosed) {
		t.Errorf("the call that waited returned %v", err)
	}
	held.releaseAll()
}

func TestCallsThatRaceWithCloseHaveOneOutcomeEach(t *testing.T) {
	recorder := newRecorder()
	client := newTestClient(t, recorder)
	client.QueueSize, client.WhenFull = 200, Refuse
	var accepted, refused atomic.Uint64
	var running sync.WaitGroup
	for g := 0; g < 8; g++ {
		running.Add(1)
		go func() {
			defer running.Done()
			for {
				err := client.Track(&Track{UserId: "ada", Event: "E"})
				switch {
				case err == nil:
					accepted.Add(1)
				case errors.Is(err, ErrClosed):
					return
				case errors.Is(err, ErrQueueFull):
					refused.Add(1)
				default:
					t.Error(err)
					return
				}
			}
		}()
	}
	recorder.await(t, 3)
	for n := 0; n < 4; n++ {
		running.Add(1)
		go func() {
			defer running.Done()
			// A call that is refused at the same moment may be counted after Close has returned.
			if err := client.Close(); err != nil && unsentIn(err) > client.Stats().Refused {
				t.Error(err)
			}
		}()
	}
	running.Wait()
	arrived := len(withoutRepetitions(recorder.all()))
	if uint64(arrived) != accepted.Load() {
		t.Errorf("%d accepted, %d arrived", accepted.Load(), arrived)
	}
	if counted := client.Stats().Refused; counted != refused.Load() {
		t.Errorf("%d refused, %d counted", refused.Load(), counted)
	}
	if err := client.Flush(); !errors.Is(err, ErrClosed) {
		t.Errorf("Flush after Close returned %v", err)
	}
}

func TestAMessageIsNotChangedAndMayBeChangedAfterTheCall(t *testing.T) {
	recorder := newRecorder()
	client := newTestClient(t, recorder)
	properties := map[string]interface{}{"list": []interface{}{1.0}, "deep": map[string]interface{}{"a": "b"}}
	message := &Track{UserId: "ada", Event: "E", Properties: properties}
	before := fmt.Sprintf("%#v", message)
	if err := client.Track(message); err != nil {
		t.Fatal(err)
	}
	if after := fmt.Sprintf("%#v", message); after != before {
		t.Errorf("%s became %s", before, after)
	}
	properties["list"].([]interface{})[0] = "changed"
	properties["deep"].(map[string]interface{})["a"] = "changed"
	message.Event = "changed"
	if err := client.Close(); err != nil {
		t.Fatal(err)
	}
	sent := recorder.all()[0].batch()[0].(map[string]any)
	expected := map[string]any{"list": []any{1.0}, "deep": map[string]any{"a": "b"}}
	if sent["event"] != "E" || !reflect.DeepEqual(sent["properties"], expected) {
		t.Errorf("sent %v", sent)
	}
}

func TestTheFieldsOfTheOldEmbeddedMessageAreUsed(t *testing.T) {
	recorder := newRecorder()
	client := newTestClient(t, recorder)
	old := Message{Type: "ignored", MessageId: "old", Timestamp: "2014-02-03", SentAt: "ignored"}
	for _, message := range []*Track{
		{UserId: "ada", Event: "E", Message: old},
		{UserId: "ada", Event: "E", Message: old, MessageId: "new", Timestamp: "2015-02-03"},
	} {
		if err := client.Track(message); err != nil {
			t.Fatal(err)
		}
	}
	if err := client.Close(); err != nil {
		t.Fatal(err)
	}
	for i, expected := range []map[string]any{
		{"type": "track", "messageId": "old", "timestamp": "2014-02-03", "sentAt": nil, "userId": "ada", "event": "E"},
		{"type": "track", "messageId": "new", "timestamp": "2015-02-03", "sentAt": nil, "userId": "ada", "event": "E"},
	} {
		if got := recorder.all()[0].batch()[i]; !reflect.DeepEqual(got, expected) {
			t.Errorf("sent %v", got)
		}
	}
}

func TestErrorsNameTheFieldInGo(t *testing.T) {
	client := newTestClient(t, newRecorder())
	for expected, call := range map[string]func() error{
		"analytics: Track.Event is required":                               func() error { return client.Track(&Track{UserId: "ada"}) },
		"analytics: Page.UserId is required where there is no AnonymousId": func() error { return client.Page(&Page{}) },
		"analytics: Client.Group needs a message, and got nil":             func() error { return client.Group(nil) },
		"analytics: Page.Traits cannot be written as JSON: json: unsupported type: func()": func() error {
			return client.Page(&Page{UserId: "ada", Traits: map[string]interface{}{"f": func() {}}})
		},
	} {
		var field *FieldError
		if err := call(); !errors.As(err, &field) || err.Error() != expected {
			t.Errorf("%v, not %s", err, expected)
		}
	}
	if err := client.Identify(nil); err == nil {
		t.Error("nil was taken for a message")
	}
}

func TestAnInvalidClientFailsEachCall(t *testing.T) {
	for field, spoil := range map[string]func(*Client){
		"WriteKey": func(c *Client) { c.writeKey = "" },
		"Endpoint": func(c *Client) { c.Endpoint = "localhost:8080" },
		"Context":  func(c *Client) { c.Context = map[string]interface{}{"c": make(chan int)} },
	} {
		client := New("wk_test")
		spoil(client)
		for _, err := range []error{client.Track(&Track{UserId: "ada", Event: "E"}), client.Flush(), client.Close()} {
			var problem *FieldError
			if !errors.As(err, &problem) || problem.Type != "Client" || problem.Field != field {
				t.Errorf("%s: %v", field, err)
			}
		}
	}
}

func TestOneConnectionServesAllRequests(t *testing.T) {
	var opened atomic.Int64
	server := httptest.NewUnstartedServer(newRecorder(answer{Status: 503}, answer{Status: 400}))
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			opened.Add(1)
		}
	}
	server.Start()
	defer server.Close()
	client := New("wk_test")
	client.Endpoint = server.URL
	client.OnError = func(*SendError) {}
	for n := 0; n < 5; n++ {
		if err := client.Track(&Track{UserId: "ada", Event: "E"}); err != nil {
			t.Fatal(err)
		}
		// The server refuses the second request.
		if err := client.Flush(); err != nil && !errors.Is(err, ErrNotSent) {
			t.Fatal(err)
		}
	}
	if err := client.Close(); unsentIn(err) != 1 {
		t.Fatal(err)
	}
	if opened.Load() != 1 {
		t.Errorf("%d connections", opened.Load())
	}
}

func TestABatchIsRetriedAfterAPartialReadOrATimeout(t *testing.T) {
	t.Parallel()
	recorder := newRecorder()
	var requests atomic.Int64
	client := newTestClient(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch requests.Add(1) {
		case 1:
			w.WriteHeader(http.StatusServiceUnavailable)
		case 2:
			panic(http.ErrAbortHandler)
		case 3:
			// Waits until the client gives up. A server notices this only while it reads.
			_, _ = io.Copy(io.Discard, r.Body)
			<-r.Context().Done()
		default:
			recorder.ServeHTTP(w, r)
		}
	}))
	client.Client.Timeout = 10 * time.Second
	client.FlushAt = 1000
	text := strings.Repeat("x", 30_000)
	for n := 0; n < 16; n++ {
		if err := client.Track(&Track{UserId: "ada", Event: "E", Properties: map[string]interface{}{"text": text}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := client.Close(); err != nil {
		t.Fatal(err)
	}
	// After the timeout, the requests are half as large.
	if got := recorder.all(); len(got) != 2 || len(got[0].batch()) != 8 || len(got[1].batch()) != 8 {
		t.Errorf("%d requests were read", len(got))
	}
}

func TestDebugLogsSendsAndRetries(t *testing.T) {
	var lines bytes.Buffer
	client := newTestClient(t, newRecorder(answer{Status: 503}))
	client.Verbose = true
	client.Logger = log.New(&lines, "", 0)
	if err := client.Track(&Track{UserId: "ada", Event: "E"}); err != nil {
		t.Fatal(err)
	}
	if err := client.Close(); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"attempt failed messages=1 attempt=1", "error=the service answered 503", "sent messages=1", "closed"} {
		if !strings.Contains(lines.String(), part) {
			t.Errorf("no %q in:\n%s", part, lines.String())
		}
	}
}

func TestWithoutOnErrorUnsentMessagesAreLogged(t *testing.T) {
	var lines bytes.Buffer
	client := newTestClient(t, newRecorder(answer{Status: 401, Body: `{"code":"unknown-write-key","message":"No source has it."}`}))
	client.Logger = log.New(&lines, "", 0)
	if err := client.Track(&Track{UserId: "ada", Event: "E"}); err != nil {
		t.Fatal(err)
	}
	if err := client.Close(); !errors.Is(err, ErrNotSent) {
		t.Errorf("Close returned %v", err)
	}
	expected := "analytics: 1 messages not sent (refused, 1 attempts): the service answered 401 Unauthorized: No source has it.\n"
	if lines.String() != expected {
		t.Errorf("logged %s", lines.String())
	}
}
