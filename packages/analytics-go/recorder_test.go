package analytics

import (
	"compress/gzip"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"
)

// TestMain lets more tests wait at the same time than there are processors: most of the time is spent in pauses between
// attempts.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "32"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// A response of the recording server, in the form of the vectors.
type answer struct {
	Status           int
	Headers          map[string]string
	Body             string
	RetryAfterDateMs int
	DelayMs          int
	Hold             bool
	Close            bool
	CutOff           bool
	Hang             bool
}

// A recorder imitates the service: it records requests and answers them as configured.
type recorder struct {
	answers []answer
	// Answers requests with one of its messages, until the release.
	poison *poison

	mu       sync.Mutex
	requests []received
	// The messageIds of the requests that were taken, in order.
	taken    []string
	changed  chan struct{}
	released chan struct{}
	release  sync.Once
}

type poison struct {
	MessageIds []string
	Answer     answer
}

type received struct {
	method, path string
	header       http.Header
	body         []byte
	parsed       map[string]any
	arrived      time.Time
	answered     time.Time
}

func (r received) batch() []any {
	batch, _ := r.parsed["batch"].([]any)
	return batch
}

func (r received) ids() []string {
	var ids []string
	for _, message := range r.batch() {
		id, _ := message.(map[string]any)["messageId"].(string)
		ids = append(ids, id)
	}
	return ids
}

func (r received) has(id string) bool { return slices.Contains(r.ids(), id) }

func newRecorder(answers ...answer) *recorder {
	return &recorder{answers: answers, changed: make(chan struct{}), released: make(chan struct{})}
}

func (r *recorder) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	got := received{method: request.Method, path: request.URL.Path, header: request.Header, arrived: time.Now()}
	body, err := readBody(request)
	if err == nil {
		got.body = body
		err = json.Unmarshal(body, &got.parsed)
	}
	if err != nil {
		http.Error(w, fmt.Sprintf("%q: %v", body, err), http.StatusBadRequest)
		return
	}
	n := r.add(got)
	next := answer{Status: http.StatusOK}
	if n < len(r.answers) {
		next = r.answers[n]
	} else if r.poison != nil && !r.isReleased() && slices.ContainsFunc(r.poison.MessageIds, got.has) {
		next = r.poison.Answer
	}
	// Cancelled when the client gives up. Otherwise the server's shutdown would wait for it.
	gone := request.Context().Done()
	switch {
	case next.Hang:
		<-gone
		return
	case next.Hold:
		<-r.released
	case next.DelayMs > 0:
		time.Sleep(time.Duration(next.DelayMs) * time.Millisecond)
	}
	r.mu.Lock()
	r.requests[n].answered = time.Now()
	if next.Status == http.StatusOK {
		r.taken = append(r.taken, got.ids()...)
		r.notify()
	}
	r.mu.Unlock()
	if next.Close {
		panic(http.ErrAbortHandler)
	}
	for name, value := range next.Headers {
		w.Header().Set(name, value)
	}
	if next.RetryAfterDateMs > 0 {
		date := time.Now().Add(time.Duration(next.RetryAfterDateMs) * time.Millisecond)
		w.Header().Set("Retry-After", date.UTC().Format(http.TimeFormat))
	}
	if next.Body == "" {
		next.Body = `{"success":true}`
	}
	if next.CutOff {
		// More bytes are announced than come.
		w.Header().Set("Content-Length", strconv.Itoa(len(next.Body)+1))
		w.WriteHeader(next.Status)
		_, _ = io.WriteString(w, next.Body)
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
	w.WriteHeader(next.Status)
	// 204 has no body.
	_, _ = io.WriteString(w, next.Body)
}

func readBody(request *http.Request) ([]byte, error) {
	if request.Header.Get("Content-Encoding") != "gzip" {
		return io.ReadAll(request.Body)
	}
	unzipped, err := gzip.NewReader(request.Body)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(unzipped)
}

func (r *recorder) add(got received) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.requests = append(r.requests, got)
	r.notify()
	return len(r.requests) - 1
}

// notify is called with mu held.
func (r *recorder) notify() {
	close(r.changed)
	r.changed = make(chan struct{})
}

func (r *recorder) all() []received {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]received(nil), r.requests...)
}

func (r *recorder) isReleased() bool {
	select {
	case <-r.released:
		return true
	default:
		return false
	}
}

func (r *recorder) releaseAll() { r.release.Do(func() { close(r.released) }) }

// await returns when this many requests were read.
func (r *recorder) await(t *testing.T, count int) {
	t.Helper()
	r.awaitCount(t, count, func() int { return len(r.requests) })
}

// awaitTaken returns when this many messages were taken.
func (r *recorder) awaitTaken(t *testing.T, count int) {
	t.Helper()
	r.awaitCount(t, count, func() int { return len(r.taken) })
}

func (r *recorder) awaitCount(t *testing.T, count int, counted func() int) {
	t.Helper()
	deadline := time.After(limit)
	for {
		r.mu.Lock()
		got, changed := counted(), r.changed
		r.mu.Unlock()
		if got >= count {
			return
		}
		select {
		case <-changed:
		case <-deadline:
			t.Fatalf("%d came, not %d", got, count)
		}
	}
}
