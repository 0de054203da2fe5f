package analytics

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// Longer than the service takes to report that it cannot accept a request.
const requestTimeout = 15 * time.Second

const batchHead = `{"batch":[`

// A poster sends the messages of one part in one request. It is used by one goroutine.
type poster struct {
	http       http.Client
	disconnect func()
	url        string
	header     http.Header
	context    []byte
	tail       []byte
	zip        *gzip.Writer
	zipped     bytes.Buffer
}

func newPoster(c *Client, url string, batchContext []byte) *poster {
	p := &poster{http: c.Client, url: url, context: batchContext, disconnect: func() {}}
	if p.http.CheckRedirect == nil {
		p.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	}
	p.http.Timeout = orDefault(p.http.Timeout, requestTimeout)
	// A program may have replaced the default transport, for example in tests. Then the replacement is used.
	if shared, ok := http.DefaultTransport.(*http.Transport); ok && p.http.Transport == nil {
		own := shared.Clone()
		own.MaxIdleConnsPerHost = 1
		p.http.Transport = own
		p.disconnect = own.CloseIdleConnections
	}
	authorized := &http.Request{Header: http.Header{
		"Content-Type": {"application/json"},
		"User-Agent":   {"analytics-go/" + Version},
	}}
	authorized.SetBasicAuth(c.writeKey, "")
	p.header = authorized.Header
	if c.Gzip {
		p.header.Set("Content-Encoding", "gzip")
		p.zip, _ = gzip.NewWriterLevel(&p.zipped, gzip.BestSpeed)
	}
	return p
}

// post makes one attempt.
func (p *poster) post(ctx context.Context, messages []byte, count int) (attempt result) {
	startedAt := time.Now()
	body := &body{pieces: p.pieces(messages)}
	// The transport may still read the body of a request that it has given up, while the next attempt changes it.
	defer body.release()
	defer func() {
		// The transport, or another function of the program's http.Client, panicked.
		if problem := recover(); problem != nil {
			attempt = withoutAnswer(fmt.Errorf("the http.Client panicked: %v", problem))
		}
		attempt.took = time.Since(startedAt)
	}()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url, nil)
	if err != nil {
		return result{outcome: refused, err: err}
	}
	request.Header = p.header.Clone()
	request.ContentLength = body.size()
	// GetBody creates a reader for a second connection, if the first was closed while it was idle.
	request.GetBody = func() (io.ReadCloser, error) { return body.reader(), nil }
	request.Body = body.reader()

	response, err := p.http.Do(request)
	if err != nil {
		// A connection on which nothing arrives any more is not used again: HTTP/2 would keep it for many minutes.
		p.disconnect()
		return withoutAnswer(err)
	}
	if response == nil || response.Body == nil {
		return withoutAnswer(errors.New("the http.Client returned no response"))
	}
	return readResponse(response, count, maxAnswerBytes)
}

// pieces are the body of a request. sentAt is the time of this attempt: the service corrects the timestamps of the
// messages by it, and an older time would shift them.
func (p *poster) pieces(messages []byte) [][]byte {
	p.tail = appendTail(p.tail[:0], p.context)
	plain := [][]byte{[]byte(batchHead), messages, p.tail}
	if p.zip == nil {
		return plain
	}
	p.zipped.Reset()
	p.zip.Reset(&p.zipped)
	for _, piece := range plain {
		// Writing to memory cannot fail.
		_, _ = p.zip.Write(piece)
	}
	_ = p.zip.Close()
	return [][]byte{p.zipped.Bytes()}
}

// envelopeBytes is the size of the data around the messages.
func envelopeBytes(context []byte) int { return len(batchHead) + len(appendTail(nil, context)) }

func appendTail(body, context []byte) []byte {
	body = append(body, `],"sentAt":"`...)
	body = appendTime(body, time.Now())
	body = append(body, `","context":`...)
	return append(append(body, context...), '}')
}
