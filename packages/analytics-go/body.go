package analytics

import (
	"errors"
	"io"
	"sync"
)

var errReleased = errors.New("analytics: the request is over")

// A body provides bytes to the readers of one request, until it is released.
type body struct {
	mu       sync.Mutex
	bytes    []byte
	released bool
}

// release waits for a Read in progress. Later ones fail.
func (b *body) release() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.bytes, b.released = nil, true
}

type bodyReader struct {
	body *body
	at   int
}

func (r *bodyReader) Read(p []byte) (int, error) {
	r.body.mu.Lock()
	defer r.body.mu.Unlock()
	switch {
	case r.body.released:
		return 0, errReleased
	case r.at == len(r.body.bytes):
		return 0, io.EOF
	}
	n := copy(p, r.body.bytes[r.at:])
	r.at += n
	return n, nil
}

func (r *bodyReader) Close() error { return nil }
