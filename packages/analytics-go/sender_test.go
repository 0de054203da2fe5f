package analytics

import (
	"errors"
	"io"
	"net/http"
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
	for status, expected := range map[int]struct{ ok, final bool }{
		200: {ok: true}, 204: {ok: true}, 299: {ok: true},
		300: {final: true}, 304: {final: true}, 400: {final: true}, 408: {final: true}, 413: {final: true}, 499: {final: true},
		429: {}, 500: {}, 501: {}, 503: {}, 599: {},
	} {
		got := readAnswer(status, http.Header{}, []byte("<html>not JSON</html>"))
		if (got.err == nil) != expected.ok || got.final != expected.final || got.status != status {
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

func TestARejectionOutsideOfTheBatchIsIgnored(t *testing.T) {
	answer := readAnswer(200, http.Header{}, []byte(`{"rejected":[{"index":-1},{"index":1},{"index":7}]}`))
	reported := 0
	s := &sender{onError: func(*SendError) { reported++ }}
	b := &batch{body: []byte(batchHead)}
	b.add([]byte(`{}`))
	s.failRejected(b, answer, 1)
	if reported != 0 {
		t.Errorf("%d reports", reported)
	}
}
