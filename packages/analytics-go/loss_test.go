package analytics

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// No call is lost without a report: these tests are for what no vector shows.

func TestByDefaultATightLoopLosesNothing(t *testing.T) {
	const calls = 20_000
	arrived := 0
	client := newTestClient(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		arrived += strings.Count(string(body), `"messageId"`)
		time.Sleep(5 * time.Millisecond)
	}))
	for n := 0; n < calls; n++ {
		if err := client.Track(&Track{UserId: "ada", Event: "E"}); err != nil {
			t.Fatalf("call %d: %v", n, err)
		}
	}
	if err := client.Close(); err != nil {
		t.Fatal(err)
	}
	if stats := client.Stats(); arrived != calls || stats.Accepted != calls || stats.Sent != calls || stats.Queued != 0 {
		t.Errorf("%d arrived; %+v", arrived, stats)
	}
}

func TestCloseReturnsAllCallsThatWereNotSent(t *testing.T) {
	held := newRecorder(answer{Status: 401}, answer{Status: 200, Hold: true})
	client := newTestClient(t, held)
	client.FlushAt, client.QueueSize, client.WhenFull = 1, 1, Refuse
	reported := 0
	client.OnError = func(err *SendError) { reported += len(err.Messages) }
	track := func() error { return client.Track(&Track{UserId: "ada", Event: "E"}) }
	if err := track(); err != nil {
		t.Fatal(err)
	}
	var unsent *UnsentError
	if err := client.Flush(); !errors.As(err, &unsent) || unsent.Reported != 1 {
		t.Errorf("Flush returned %v", err)
	}
	if err := client.Flush(); err != nil {
		t.Errorf("the second Flush returned %v", err)
	}
	if err := track(); err != nil {
		t.Fatal(err)
	}
	held.await(t, 2)
	if err := track(); !errors.Is(err, ErrQueueFull) {
		t.Errorf("the full queue: %v", err)
	}
	if err := client.Track(&Track{UserId: "ada"}); err == nil {
		t.Error("a call without an event was accepted")
	}
	held.releaseAll()
	err := client.Close()
	if !errors.As(err, &unsent) || unsent.Reported != 1 || unsent.Refused != 2 || !errors.Is(err, ErrNotSent) || errors.Is(err, ErrNotDrained) {
		t.Errorf("Close returned %v", err)
	}
	if reported != 1 {
		t.Errorf("%d reported", reported)
	}
}

func TestAWaitingCallEndsWithItsContext(t *testing.T) {
	held := newRecorder(answer{Status: 200, Hold: true})
	client := newTestClient(t, held)
	client.FlushAt, client.QueueSize = 1, 1
	ctx, cancel := context.WithCancel(context.Background())
	message := &Track{UserId: "ada", Event: "E"}
	if err := client.TrackContext(ctx, message); err != nil {
		t.Fatal(err)
	}
	held.await(t, 1)
	waited := make(chan error)
	go func() { waited <- client.TrackContext(ctx, message) }()
	cancel()
	if err := <-waited; !errors.Is(err, ErrQueueFull) || !errors.Is(err, context.Canceled) {
		t.Errorf("the call returned %v", err)
	}
	held.releaseAll()
	if err := client.Flush(); err != nil {
		t.Fatal(err)
	}
	// With capacity, the context has no effect.
	if err := client.TrackContext(ctx, message); err != nil {
		t.Error(err)
	}
	if err := client.Close(); unsentIn(err) != 1 {
		t.Errorf("Close returned %v", err)
	}
	if got := len(withoutRepetitions(held.all())); got != 2 {
		t.Errorf("%d arrived", got)
	}
}

func TestEveryRejectionOfALongAnswerIsReported(t *testing.T) {
	const calls, length = 2500, 300
	client := newTestClient(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		rejected := make([]map[string]any, calls)
		for i := range rejected {
			rejected[i] = map[string]any{"index": i, "code": "invalid-call", "message": strings.Repeat("x", length)}
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"success": true, "rejected": rejected})
	}))
	client.FlushAt = calls
	reported := 0
	client.OnError = func(err *SendError) {
		if err.Reason != Rejected || len(err.Err.Error()) < length {
			t.Errorf("reported %v", err)
		}
		reported += len(err.Messages)
	}
	for n := 0; n < calls; n++ {
		if err := client.Track(&Track{UserId: "ada", Event: "E"}); err != nil {
			t.Fatal(err)
		}
	}
	if err := client.Close(); unsentIn(err) != calls || reported != calls {
		t.Errorf("%d reported, Close returned %v", reported, err)
	}
}

func TestAnAnswerThatIsTooLongDividesTheRequest(t *testing.T) {
	for messages, expected := range map[int]outcome{1: accepted, 2: divided} {
		response := &http.Response{StatusCode: 200, Body: io.NopCloser(strings.NewReader(`{"rejected":[{"index":0}]}`))}
		if got := readResponse(response, messages, 10).outcome; got != expected {
			t.Errorf("%d messages: %v", messages, got)
		}
	}
}

func TestABatchWithALargeContextKeepsToTheLimits(t *testing.T) {
	recorder := newRecorder()
	client := newTestClient(t, recorder)
	client.Context = map[string]interface{}{"static": strings.Repeat("x", 30_000)}
	for n := 0; n < 5000; n++ {
		if err := client.Track(&Track{UserId: "ada", Event: "E", Properties: map[string]interface{}{"n": n}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := client.Close(); err != nil {
		t.Fatal(err)
	}
	for _, r := range recorder.all() {
		if len(r.body) > maxBatchBytes || len(r.batch()) > maxBatchMessages {
			t.Errorf("a request of %d bytes and %d calls", len(r.body), len(r.batch()))
		}
	}
	if got := len(withoutRepetitions(recorder.all())); got != 5000 {
		t.Errorf("%d arrived", got)
	}
}

func TestAPanicOfACallbackOrTheTransportStopsNothing(t *testing.T) {
	var lines lineBuffer
	recorder := newRecorder(answer{Status: 401})
	client := newTestClient(t, recorder)
	client.Logger.SetOutput(&lines)
	client.OnError = func(*SendError) { panic("on error") }
	client.OnSent = func([]json.RawMessage) { panic("on sent") }
	client.Client.Transport = &panicking{}
	for n := 0; n < 2; n++ {
		if err := client.Track(&Track{UserId: "ada", Event: "E"}); err != nil {
			t.Fatal(err)
		}
		_ = client.Flush()
	}
	if err := client.Close(); unsentIn(err) != 1 {
		t.Errorf("Close returned %v", err)
	}
	for _, part := range []string{"callback=OnError panic=on error", "callback=OnSent panic=on sent"} {
		if !strings.Contains(lines.String(), part) {
			t.Errorf("no %q in:\n%s", part, lines.String())
		}
	}
	if stats := client.Stats(); stats.Sent != 1 || stats.Failed != 1 || stats.Retries != 1 {
		t.Errorf("%+v", stats)
	}
}

// panicking panics in its first request.
type panicking struct{ requests int }

func (p *panicking) RoundTrip(r *http.Request) (*http.Response, error) {
	p.requests++
	if p.requests == 1 {
		panic("transport")
	}
	return http.DefaultTransport.RoundTrip(r)
}

type lineBuffer struct {
	mu   sync.Mutex
	text strings.Builder
}

func (b *lineBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *lineBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

func TestOnSentReceivesTheAcceptedMessages(t *testing.T) {
	client := newTestClient(t, newRecorder(answer{Status: 200, Body: `{"rejected":[{"index":1}]}`}))
	var got []string
	client.OnSent = func(messages []json.RawMessage) {
		for _, raw := range messages {
			var message struct{ MessageId string }
			if err := json.Unmarshal(raw, &message); err != nil {
				t.Error(err)
			}
			got = append(got, message.MessageId)
		}
	}
	for n := 0; n < 3; n++ {
		if err := client.Track(&Track{UserId: "ada", Event: "E", MessageId: fmt.Sprintf("m-%d", n)}); err != nil {
			t.Fatal(err)
		}
	}
	_ = client.Close()
	if strings.Join(got, " ") != "m-0 m-2" {
		t.Errorf("OnSent received %v", got)
	}
}

func TestWholeNumbersKeepTheirDigits(t *testing.T) {
	recorder := newRecorder()
	client := newTestClient(t, recorder)
	properties := map[string]interface{}{
		"int64": int64(9007199254740993), "uint64": uint64(18446744073709551615), "int": -9007199254740993, "number": json.Number("123456789012345678901234567890.10"),
	}
	if err := client.Track(&Track{UserId: "ada", Event: "E", Properties: properties}); err != nil {
		t.Fatal(err)
	}
	if err := client.Close(); err != nil {
		t.Fatal(err)
	}
	expected := `{"int":-9007199254740993,"int64":9007199254740993,"number":123456789012345678901234567890.10,"uint64":18446744073709551615}`
	if body := string(recorder.all()[0].body); !strings.Contains(body, expected) {
		t.Errorf("sent %s", body)
	}
}

func TestRequestsGrowOnlyAfterQuickSuccesses(t *testing.T) {
	s := &sender{window: maxBatchMessages, poster: &poster{http: http.Client{Timeout: 10 * time.Second}}}
	timedOut, ended, quick, slow := result{timedOut: true}, result{unexplained: true}, result{took: time.Second}, result{took: 6 * time.Second}
	for _, step := range []struct {
		act      func()
		expected int
	}{
		{func() { s.narrow(part{0, 9}, timedOut, 1) }, 5},
		{func() { s.narrow(part{0, 5}, ended, 4) }, 5},
		{func() { s.narrow(part{3, 8}, timedOut, 1) }, 3},
		{func() { s.widen(slow) }, 3},
		{func() { s.widen(quick) }, 6},
		{func() { s.narrow(part{0, 4}, ended, 5) }, 2},
		{func() { s.narrow(part{0, 2}, timedOut, 1) }, 1},
		{func() { s.narrow(part{0, 1}, timedOut, 1) }, 1},
	} {
		if step.act(); s.window != step.expected {
			t.Fatalf("%d, not %d", s.window, step.expected)
		}
	}
	for n := 0; n < 20; n++ {
		s.widen(quick)
	}
	if s.window != maxBatchMessages {
		t.Errorf("%d at the end", s.window)
	}
}

func TestOnlyOldCallsExpire(t *testing.T) {
	held := newRecorder(answer{Status: 503, Hold: true})
	client := newTestClient(t, held)
	client.MaxAge = time.Hour
	// Read only after Close, which waits for the goroutine that calls OnError.
	reported := ""
	client.OnError = func(err *SendError) {
		reported += string(err.Reason)
		for _, message := range err.Messages {
			reported += fmt.Sprint(" ", idsIn(message))
		}
	}
	track := func(id string) {
		if err := client.Track(&Track{UserId: "ada", Event: "E", MessageId: id}); err != nil {
			t.Fatal(err)
		}
	}
	for n := 0; n < 4; n++ {
		track(fmt.Sprintf("m-%d", n))
	}
	// As if the first two calls had been made long ago.
	client.queue.mu.Lock()
	calledAt := client.queue.waiting[0].calledAt
	calledAt[0], calledAt[1] = calledAt[0]-2*time.Hour, calledAt[1]-2*time.Hour
	client.queue.mu.Unlock()
	held.releaseAll()
	if err := client.Close(); unsentIn(err) != 2 {
		t.Errorf("Close returned %v", err)
	}
	if reported != "expired [0] [1]" {
		t.Errorf("reported %s", reported)
	}
	if got := len(held.all()[1].batch()); got != 2 {
		t.Errorf("the second request has %d calls", got)
	}
}

func TestPartsThatAreLeftBeginAtAnIndex(t *testing.T) {
	for index, expected := range map[int]string{2: "[{8 10} {4 8} {2 4}]", 3: "[{8 10} {4 8} {3 4}]", 4: "[{8 10} {4 8}]", 9: "[{9 10}]", 10: "[]"} {
		if got := fmt.Sprint(from([]part{{8, 10}, {4, 8}, {2, 4}}, index)); got != expected {
			t.Errorf("%d: %s, not %s", index, got, expected)
		}
	}
}

// Some servers answer a request that is too large before they have read it, and end the connection. The answer may be lost.
func TestAServerThatEndsLargeRequestsGetsSmallerOnes(t *testing.T) {
	t.Parallel()
	recorder := newRecorder()
	client := newTestClient(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength > 60_000 {
			if connection := hijack(t, w); connection != nil {
				_ = connection.SetLinger(0)
				_ = connection.Close()
			}
			return
		}
		recorder.ServeHTTP(w, r)
	}))
	client.FlushAt = 100
	for n := 0; n < 100; n++ {
		if err := client.Track(&Track{UserId: "ada", Event: "E", Properties: map[string]interface{}{"text": strings.Repeat("x", 1000)}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := client.Close(); err != nil {
		t.Fatal(err)
	}
	if got := len(withoutRepetitions(recorder.all())); got != 100 {
		t.Errorf("%d arrived", got)
	}
}

func TestSeveralFlushesReturnEachReportedCallOnce(t *testing.T) {
	const goroutines, calls = 8, 50
	client := newTestClient(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.WriteHeader(http.StatusUnauthorized)
	}))
	client.OnError = func(*SendError) {}
	var returned atomic.Uint64
	var running sync.WaitGroup
	for g := 0; g < goroutines; g++ {
		running.Add(1)
		go func() {
			defer running.Done()
			for n := 0; n < calls; n++ {
				if err := client.Track(&Track{UserId: "ada", Event: "E"}); err != nil {
					t.Error(err)
				}
				returned.Add(unsentIn(client.Flush()))
			}
		}()
	}
	running.Wait()
	if got := returned.Load(); got != goroutines*calls {
		t.Errorf("Flush returned %d calls, not %d", got, goroutines*calls)
	}
	if err := client.Close(); unsentIn(err) != goroutines*calls {
		t.Errorf("Close returned %v", err)
	}
}

// A message that makes the service fail does not keep the others from arriving.
func TestAMessageThatMakesTheServiceFailIsIsolated(t *testing.T) {
	t.Parallel()
	recorder := newRecorder()
	client := newTestClient(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if len(idsIn(body)) > 1 && strings.Contains(string(body), `"poison"`) {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		recorder.ServeHTTP(w, r)
	}))
	for n, event := range []string{"E", "E", "poison", "E"} {
		if err := client.Track(&Track{UserId: "ada", Event: event, MessageId: fmt.Sprintf("m-%d", n)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := client.Close(); err != nil {
		t.Fatal(err)
	}
	expectInOrder(t, recorder, 4)
}
