package analytics

import (
	"bytes"
	"runtime"
	"strconv"
	"time"
)

// The sending goroutine runs the program's code: OnError, OnSent, the transport of its http.Client and the handler of its
// log. A method that this code calls must not wait for the goroutine, because it would wait for itself.

// A blocked goroutine is given up this long after the deadline of Close.
const stuckAfter = 5 * time.Second

// isCaller reports whether the sending goroutine makes this call. It is called only before waiting.
func (s *sender) isCaller() bool {
	id := goroutineID()
	return id != 0 && id == s.goroutine.Load()
}

// goroutineID reads the number from the first line of a stack, "goroutine 7 [running]:". It is 0 if that line has changed;
// then the methods wait, as documented for programs that make such calls.
func goroutineID() uint64 {
	var stack [64]byte
	first := stack[:runtime.Stack(stack[:], false)]
	number, _, _ := bytes.Cut(bytes.TrimPrefix(first, []byte("goroutine ")), []byte(" "))
	id, err := strconv.ParseUint(string(number), 10, 64)
	if err != nil {
		return 0
	}
	return id
}

// awaitEnd waits until the sending goroutine has ended. It returns false if the goroutine makes no progress, because the
// program's code does not return.
func (s *sender) awaitEnd() bool {
	for {
		before := s.report.progress.Load()
		timer := time.NewTimer(s.stuckAfter)
		select {
		case <-s.done:
			timer.Stop()
			return true
		case <-timer.C:
		}
		if s.report.progress.Load() == before {
			return false
		}
	}
}
