package analytics

import (
	"errors"
	"io"
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
	// The piece, and the position in it.
	piece, at int
}

func (r *bodyReader) Read(p []byte) (int, error) {
	r.body.mu.Lock()
	defer r.body.mu.Unlock()
	if r.body.released {
		return 0, errReleased
	}
	read := 0
	for read < len(p) && r.piece < len(r.body.pieces) {
		n := copy(p[read:], r.body.pieces[r.piece][r.at:])
		read += n
		r.at += n
		if r.at == len(r.body.pieces[r.piece]) {
			r.piece, r.at = r.piece+1, 0
		}
	}
	if read == 0 && len(p) > 0 {
		return 0, io.EOF
	}
	return read, nil
}

func (r *bodyReader) Close() error { return nil }
