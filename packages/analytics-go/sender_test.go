package analytics

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestTheBackoffDoublesUpToItsLimitAndKeepsHalf(t *testing.T) {
	full := firstBackoff
	for attempt := 1; attempt < 100; attempt++ {
		for n := 0; n < 50; n++ {
			if pause := backoff(attempt); pause < full/2 || pause > full {
				t.Fatalf("attempt %d: a pause of %v, with %v", attempt, pause, full)
			}
		}
		full = min(2*full, longestBackoff)
	}
}

func TestRetryAfterIsReadAsSecondsOrDateAndBounded(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for text, expected := range map[string]time.Duration{
		"": 0, "0": 0, "-3": 0, "3": 3 * time.Second, "86400": longestRetryAfter, "99999999999999999999": 0, "1.5": 0, "soon": 0,
		now.Add(90 * time.Second).Format(http.TimeFormat): 90 * time.Second,
		now.Add(-time.Second).Format(http.TimeFormat):     0,
		now.Add(time.Hour).Format(http.TimeFormat):        longestRetryAfter,
	} {
		if pause := readRetryAfter(text, now); pause != expected {
			t.Errorf("%q: %v, not %v", text, pause, expected)
		}
	}
}

func TestResponsesAreClassified(t *testing.T) {
	for status, expected := range map[int]outcome{
		200: accepted, 204: accepted, 299: accepted,
		300: refused, 304: refused, 401: refused, 403: refused, 404: refused,
		400: divided, 402: divided, 413: divided, 422: divided, 499: divided,
		408: retried, 429: retried, 500: retried, 501: retried, 503: retried, 599: retried,
	} {
		got := readAnswer(status, http.Header{}, []byte("<html>not JSON</html>"), 1)
		if got.outcome != expected || (got.err == nil) != (expected == accepted) || got.status != status {
			t.Errorf("%d: %+v", status, got)
		}
	}
}

// A lateReader is a transport that continues to read the body of a request that it has given up, as net/http may.
type lateReader struct {
	given io.Reader
	late  []byte
	err   error
}

func (l *lateReader) RoundTrip(request *http.Request) (*http.Response, error) {
	if l.given == nil {
		l.given = request.Body
		return nil, errors.New("given up")
	}
	l.late, l.err = io.ReadAll(l.given)
	return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody, Request: request}, nil
}

func TestAnEndedAttemptDoesNotReadTheNextOne(t *testing.T) {
	transport := &lateReader{}
	client := New("wk_test")
	client.Client.Transport = transport
	if err := client.Track(&Track{UserId: "ada", Event: "E"}); err != nil {
		t.Fatal(err)
	}
	if err := client.Close(); err != nil {
		t.Fatal(err)
	}
	if len(transport.late) > 0 || !errors.Is(transport.err, errReleased) {
		t.Errorf("read %q, and then %v", transport.late, transport.err)
	}
}

func TestEachRejectionCountsOnceAndOnlyInTheRequest(t *testing.T) {
	for body, expected := range map[string]string{
		`{"rejected":[{"index":-1},{"index":1,"code":"first"},{"index":1,"code":"second"},{"index":2},{"index":1e300}]}`: "[{1 first }]",
		`{"rejected":[{},{"index":"0"},{"index":null},{"index":0.5},5,null,"x",[0]]}`:                                    "[]",
		`{"rejected":[{"index":0,"code":7,"message":{}},{"index":1,"message":"m"}]}`:                                     "[{0  } {1  m}]",
		`{"rejected":{"index":0}}`: "[]",
		`{"rejected":null}`:        "[]",
		`{"rejected":[{"index":0}`: "[]",
	} {
		if got := fmt.Sprint(readAnswer(200, http.Header{}, []byte(body), 2).rejected); got != expected {
			t.Errorf("%s: %s, not %s", body, got, expected)
		}
	}
}

func TestALongListOfRejectionsTakesLittleMemory(t *testing.T) {
	body := []byte(`{"rejected":[` + strings.Repeat(`{},`, 300_000) + `{"index":1}]}`)
	peak := watchMemory()
	got := readAnswer(200, http.Header{}, body, 2).rejected
	if len(got) != 1 {
		t.Errorf("%v", got)
	}
	// With garbage. A slice of the elements would have more than fifteen megabytes.
	if grown := peak(); grown > 12<<20 {
		t.Errorf("the heap has grown by %d bytes", grown)
	}
}

func TestACallThatHasWaitedDuringALongRequestIsSentDirectlyAfterIt(t *testing.T) {
	requests, answer := make(chan string, 2), make(chan struct{})
	client := newTestClient(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		requests <- string(body)
		<-answer
	}))
	// Longer than the test waits.
	client.FlushAfter = time.Hour
	if err := client.Track(&Track{UserId: "ada", Event: "First"}); err != nil {
		t.Fatal(err)
	}
	settled, _ := client.queue.flush()
	<-requests
	calledAt := sinceStart(time.Now()) - client.FlushAfter
	if err := client.queue.add(context.Background(), []byte(`{"event":"Second"}`), calledAt); err != nil {
		t.Fatal(err)
	}
	close(answer)
	<-settled
	eventually(t, "calls", func() bool { return len(requests) == 1 })
	if body := <-requests; !strings.Contains(body, "Second") {
		t.Error(body)
	}
	if err := client.Close(); err != nil {
		t.Error(err)
	}
}
