package analytics

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log"
	"math/rand"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"
)

const (
	firstBackoff   = 100 * time.Millisecond
	longestBackoff = 10 * time.Second
	// The longest accepted Retry-After.
	longestRetryAfter = 5 * time.Minute
	// Longer than the service takes to report that it cannot accept a request.
	requestTimeout = 15 * time.Second
	// The maximum size of a response that is read. A response lists the rejected calls.
	maxAnswerBytes = 1 << 20
)

// A sender gets batches from the queue and posts them, one at a time, to keep the order of the calls. A failed batch is
// retried until it succeeds or is given up, so no batch overtakes it.
type sender struct {
	queue       *queue
	http        http.Client
	disconnect  func()
	url         string
	header      http.Header
	context     []byte
	zip         *gzip.Writer
	zipped      bytes.Buffer
	maxAttempts int
	onError     func(*SendError)
	logger      *log.Logger
	verbose     bool

	// Ends when the deadline of Close passes.
	ctx  context.Context
	stop context.CancelFunc
	done chan struct{}
	// Messages that were reported as unsent since the start.
	failed atomic.Uint64
}

func newSender(c *Client, url string, batchContext []byte) *sender {
	s := &sender{
		queue:       c.queue,
		http:        c.Client,
		url:         url,
		context:     batchContext,
		maxAttempts: c.MaxAttempts,
		onError:     c.OnError,
		logger:      c.Logger,
		verbose:     c.Verbose,
		done:        make(chan struct{}),
	}
	s.ctx, s.stop = context.WithCancel(context.Background())
	if s.logger == nil {
		s.logger = log.Default()
	}
	if s.http.CheckRedirect == nil {
		s.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	}
	s.http.Timeout = orDefault(s.http.Timeout, requestTimeout)
	s.disconnect = func() {}
	// A program may have replaced the default transport, for example in tests. Then the replacement is used.
	if shared, ok := http.DefaultTransport.(*http.Transport); ok && s.http.Transport == nil {
		own := shared.Clone()
		own.MaxIdleConnsPerHost = 1
		s.http.Transport = own
		s.disconnect = own.CloseIdleConnections
	}
	authorized := &http.Request{Header: http.Header{
		"Content-Type": {"application/json"},
		"User-Agent":   {"analytics-go/" + Version},
	}}
	authorized.SetBasicAuth(c.writeKey, "")
	s.header = authorized.Header
	if c.Gzip {
		s.header.Set("Content-Encoding", "gzip")
		s.zip, _ = gzip.NewWriterLevel(&s.zipped, gzip.BestSpeed)
	}
	return s
}

// run sends until the queue is closed and empty.
func (s *sender) run(flushAfter time.Duration) {
	defer close(s.done)
	defer s.stop()
	defer s.disconnect()
	ticker := time.NewTicker(flushAfter)
	defer ticker.Stop()
	for {
		for b := s.queue.next(); b != nil; b = s.queue.next() {
			s.deliver(b)
			s.queue.settle(b)
			ticker.Reset(flushAfter)
		}
		if s.queue.finished() {
			s.debugf("closed")
			return
		}
		select {
		case <-s.queue.wake:
		case <-ticker.C:
			s.queue.release()
		}
	}
}

// deliver returns when the batch was sent or reported.
func (s *sender) deliver(b *batch) {
	var last result
	for attempt := 1; ; attempt++ {
		if s.ctx.Err() != nil {
			s.fail(b, ClosedEarly, last, attempt-1)
			return
		}
		last = s.post(b)
		if last.err == nil {
			s.debugf("sent %d messages", len(b.ends))
			s.failRejected(b, last, attempt)
			return
		}
		switch {
		case last.final:
			s.fail(b, Refused, last, attempt)
			return
		case attempt == s.maxAttempts:
			s.fail(b, Exhausted, last, attempt)
			return
		}
		pause := backoff(attempt)
		if last.retryAfter > pause {
			// Spread the retries, because many clients may have received the same date.
			pause = last.retryAfter + pause/2
		}
		s.debugf("attempt %d failed: %v; the next in %v", attempt, last.err, pause)
		if attempt == 3 && !s.verbose {
			s.logger.Printf("%d messages are not sent after 3 attempts, and are tried again: %v", len(b.ends), last.err)
		}
		s.sleep(pause)
	}
}

// backoff doubles with each attempt, less a random share of up to a half, so that clients do not retry at the same
// time.
func backoff(attempt int) time.Duration {
	full := longestBackoff
	if doublings := attempt - 1; doublings < 7 {
		full = min(full, firstBackoff<<doublings)
	}
	return full/2 + time.Duration(rand.Int63n(int64(full/2)+1))
}

func (s *sender) sleep(pause time.Duration) {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-s.ctx.Done():
	}
}

// A result is the outcome of an attempt.
type result struct {
	// nil for success.
	err error
	// Whether a retry would have the same outcome.
	final bool
	// 0 without a response.
	status     int
	retryAfter time.Duration
	rejected   []rejection
}

// A rejection identifies a rejected message by its index in the batch.
type rejection struct {
	Index   int    `json:"index"`
	Code    string `json:"code"`
	Message string `json:"message"`
}

func (s *sender) post(b *batch) result {
	body := &body{bytes: s.complete(b)}
	// The transport may still read the body of a request that it has given up, while the next attempt changes it.
	defer body.release()
	request, err := http.NewRequestWithContext(s.ctx, http.MethodPost, s.url, nil)
	if err != nil {
		return result{err: err, final: true}
	}
	request.Header = s.header.Clone()
	request.ContentLength = int64(len(body.bytes))
	// GetBody creates a reader for a second connection, if the first was closed while it was idle.
	request.GetBody = func() (io.ReadCloser, error) { return &bodyReader{body: body}, nil }
	request.Body = &bodyReader{body: body}

	response, err := s.http.Do(request)
	if err != nil {
		return result{err: err}
	}
	// After the body is read to its end, the connection can be reused.
	answer, _ := io.ReadAll(io.LimitReader(response.Body, maxAnswerBytes))
	response.Body.Close()
	return readAnswer(response.StatusCode, response.Header, answer)
}

// tailBytes is the size of the data after the messages.
func tailBytes(context []byte) int { return len(appendTail(nil, context)) }

func appendTail(body, context []byte) []byte {
	body = append(body, `],"sentAt":"`...)
	body = appendTime(body, time.Now())
	body = append(body, `","context":`...)
	return append(append(body, context...), '}')
}

// complete turns the batch into the body of a request. sentAt is the time of this attempt: the service corrects the
// timestamps of the messages by it, and an older time would shift them.
func (s *sender) complete(b *batch) []byte {
	b.body = appendTail(b.body[:b.ends[len(b.ends)-1]], s.context)
	if s.zip == nil {
		return b.body
	}
	s.zipped.Reset()
	s.zip.Reset(&s.zipped)
	// Writing to memory cannot fail.
	s.zip.Write(b.body)
	s.zip.Close()
	return s.zipped.Bytes()
}

// readAnswer classifies a response.
func readAnswer(status int, header http.Header, body []byte) result {
	var parsed struct {
		Message  string      `json:"message"`
		Rejected []rejection `json:"rejected"`
	}
	// A response of another server, such as a proxy, need not be JSON.
	_ = json.Unmarshal(body, &parsed)
	if status >= 200 && status < 300 {
		return result{status: status, rejected: parsed.Rejected}
	}
	retry := status == http.StatusTooManyRequests || status >= 500
	return result{
		err:        &answerError{status: status, message: parsed.Message},
		final:      !retry,
		status:     status,
		retryAfter: readRetryAfter(header.Get("Retry-After"), time.Now()),
	}
}

// readRetryAfter reads seconds or a date (RFC 9110, section 10.2.3). Any other value counts as no pause.
func readRetryAfter(text string, now time.Time) time.Duration {
	pause := time.Duration(0)
	if seconds, err := strconv.Atoi(text); err == nil {
		pause = time.Duration(min(seconds, int(longestRetryAfter/time.Second))) * time.Second
	} else if date, err := http.ParseTime(text); err == nil {
		pause = date.Sub(now)
	}
	return max(0, min(pause, longestRetryAfter))
}

// fail reports all messages of a batch.
func (s *sender) fail(b *batch, reason Reason, last result, attempts int) {
	if last.err == nil {
		last.err = errors.New("there was no time for an attempt")
	}
	s.report(&SendError{Reason: reason, Messages: b.messages(), Status: last.status, Attempts: attempts, Err: last.err})
}

// failRejected reports the rejected messages of an accepted batch, each with its reason.
func (s *sender) failRejected(b *batch, answer result, attempts int) {
	for _, rejected := range answer.rejected {
		if rejected.Index < 0 || rejected.Index >= len(b.ends) {
			continue
		}
		s.report(&SendError{
			Reason:   Rejected,
			Messages: []json.RawMessage{b.message(rejected.Index)},
			Status:   answer.status,
			Attempts: attempts,
			Err:      errors.New(rejected.Code + ": " + rejected.Message),
		})
	}
}

func (s *sender) report(err *SendError) {
	s.failed.Add(uint64(len(err.Messages)))
	if s.onError != nil {
		s.debugf("%v", err)
		s.onError(err)
		return
	}
	s.logger.Print(err)
}

func (s *sender) debugf(format string, args ...any) {
	if s.verbose {
		s.logger.Printf(format, args...)
	}
}
