package analytics

import (
	"errors"
	"net"
	"slices"
	"sync"
)

var errReleased = errors.New("analytics: the request is over")

// A body provides the bytes of one request to its readers, until it is released. Its pieces follow one another, so that
// messages are sent from the memory of their batch.
type body struct {
	mu       sync.Mutex
	pieces   [][]byte
	released bool
}

func (b *body) size() int64 {
	size := 0
	for _, piece := range b.pieces {
		size += len(piece)
	}
	return int64(size)
}

// release waits for a Read in progress. Later ones fail.
func (b *body) release() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pieces, b.released = nil, true
}

type bodyReader struct {
	body *body
	// The pieces that are not read.
	rest net.Buffers
}

func (b *body) reader() *bodyReader { return &bodyReader{body: b, rest: slices.Clone(b.pieces)} }

func (r *bodyReader) Read(p []byte) (int, error) {
	r.body.mu.Lock()
	defer r.body.mu.Unlock()
	if r.body.released {
		return 0, errReleased
	}
	return r.rest.Read(p)
}

func (r *bodyReader) Close() error { return nil }
