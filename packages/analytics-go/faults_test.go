package analytics

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// A faultyService stores calls, as the service does, except where its fault prevents it. It counts each messageId m-<n>
// that it has stored.
type faultyService struct {
	t *testing.T
	// Handles some of the requests itself, and returns true for these.
	fault func(s *faultyService, n int, body []byte, w http.ResponseWriter, r *http.Request) bool

	address  string
	requests atomic.Int64
	faults   atomic.Int64
	// Connections that are open.
	open atomic.Int64

	mu     sync.Mutex
	stored map[int]bool
	server *http.Server
	// Closed in the end, for requests that are not answered.
	ended chan struct{}
	// Restarts that are not finished.
	restarting sync.WaitGroup
}

func startFaultyService(t *testing.T, fault func(*faultyService, int, []byte, http.ResponseWriter, *http.Request) bool) *faultyService {
	s := &faultyService{t: t, fault: fault, address: "127.0.0.1:0", stored: map[int]bool{}, ended: make(chan struct{})}
	s.listen()
	return s
}

// listen uses the same port after a restart.
func (s *faultyService) listen() {
	listener, err := net.Listen("tcp", s.address)
	for deadline := time.Now().Add(limit); err != nil && time.Now().Before(deadline); {
		listener, err = net.Listen("tcp", s.address)
	}
	if err != nil {
		s.t.Error(err)
		return
	}
	s.address = listener.Addr().String()
	server := &http.Server{Handler: s, ConnState: func(_ net.Conn, state http.ConnState) {
		switch state {
		case http.StateNew:
			s.open.Add(1)
		case http.StateClosed, http.StateHijacked:
			s.open.Add(-1)
		}
	}}
	s.mu.Lock()
	s.server = server
	s.mu.Unlock()
	go func() { _ = server.Serve(listener) }()
}

// restart ends all connections, and listens again.
func (s *faultyService) restart() {
	s.restarting.Add(1)
	go func() {
		defer s.restarting.Done()
		s.mu.Lock()
		server := s.server
		s.mu.Unlock()
		_ = server.Close()
		s.listen()
	}()
}

func (s *faultyService) close() {
	s.restarting.Wait()
	close(s.ended)
	_ = s.server.Close()
}

func (s *faultyService) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		// The client has given up.
		return
	}
	if s.fault(s, int(s.requests.Add(1)), body, w, r) {
		s.faults.Add(1)
		return
	}
	s.store(body)
	_, _ = io.WriteString(w, `{"success":true}`)
}

func (s *faultyService) store(body []byte) {
	ids := idsIn(body)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range ids {
		s.stored[id] = true
	}
}

// idsIn is found by hand: with the race detector, a parser takes ten times as long as everything else.
func idsIn(body []byte) (ids []int) {
	for _, after := range bytes.Split(body, []byte(`"messageId":"m-`))[1:] {
		digits, _, _ := bytes.Cut(after, []byte{'"'})
		if id, err := strconv.Atoi(string(digits)); err == nil {
			ids = append(ids, id)
		}
	}
	return ids
}

// hijack ends what net/http does with the connection.
func hijack(t *testing.T, w http.ResponseWriter) *net.TCPConn {
	connection, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		t.Error(err)
		return nil
	}
	return connection.(*net.TCPConn)
}

const completeAnswer = "HTTP/1.1 200 OK\r\nContent-Length: 16\r\nConnection: close\r\n\r\n{\"success\":true}"

// The faults. Each leaves some requests alone, because otherwise nothing would arrive.
var faults = map[string]func(*faultyService, int, []byte, http.ResponseWriter, *http.Request) bool{
	"answers": func(*faultyService, int, []byte, http.ResponseWriter, *http.Request) bool { return false },

	"stalls": func(s *faultyService, n int, _ []byte, _ http.ResponseWriter, r *http.Request) bool {
		if n%4 != 2 || n > 12 {
			return false
		}
		select {
		case <-r.Context().Done():
		case <-s.ended:
		}
		return true
	},

	"fails": func(_ *faultyService, n int, _ []byte, w http.ResponseWriter, _ *http.Request) bool {
		statuses := []int{500, 502, 503, 504, 429, 408}
		if n%3 != 1 {
			return false
		}
		w.WriteHeader(statuses[n/3%len(statuses)])
		return true
	},

	// Every thousandth call is always refused, requests of more than 40 calls are too large, and some answers list a rejected call.
	"refuses": func(s *faultyService, n int, body []byte, w http.ResponseWriter, _ *http.Request) bool {
		ids := idsIn(body)
		switch {
		case len(ids) > 40:
			w.WriteHeader(http.StatusRequestEntityTooLarge)
			return true
		case bytes.Contains(body, []byte(`"poison"`)):
			w.WriteHeader(http.StatusBadRequest)
			return true
		case n%5 == 0:
			s.store(body)
			s.mu.Lock()
			delete(s.stored, ids[0])
			s.mu.Unlock()
			_, _ = io.WriteString(w, `{"success":true,"rejected":[{"index":0,"code":"invalid-call","message":"no"}]}`)
			return true
		case n%7 == 0:
			w.WriteHeader(http.StatusUnauthorized)
			return true
		}
		return false
	},

	// The connection is reset before the answer, in the middle of it, or after the calls were stored.
	"resets": func(s *faultyService, n int, body []byte, w http.ResponseWriter, _ *http.Request) bool {
		if n%2 == 0 {
			return false
		}
		if n%3 == 0 {
			s.store(body)
		}
		if connection := hijack(s.t, w); connection != nil {
			if n%5 == 0 {
				_, _ = io.WriteString(connection, completeAnswer[:len(completeAnswer)-5])
			}
			_ = connection.SetLinger(0)
			_ = connection.Close()
		}
		return true
	},

	"trickles": func(s *faultyService, n int, body []byte, w http.ResponseWriter, _ *http.Request) bool {
		if n%3 != 0 {
			return false
		}
		s.store(body)
		if connection := hijack(s.t, w); connection != nil {
			defer connection.Close()
			for i := range completeAnswer {
				// Some answers are too slow for the timeout of the client.
				if i == 40 && n%2 == 0 && n < 20 {
					time.Sleep(time.Second)
				}
				if _, err := io.WriteString(connection, completeAnswer[i:i+1]); err != nil {
					return true
				}
			}
		}
		return true
	},

	"restarts": func(s *faultyService, n int, body []byte, _ http.ResponseWriter, r *http.Request) bool {
		if n%5 != 0 {
			return false
		}
		s.store(body)
		s.restart()
		<-r.Context().Done()
		return true
	},
}

// An answer with 101 has no body that ends, and one may be compressed although the transport does not ask for it.
func TestAnswersThatNetHttpLeavesToTheClient(t *testing.T) {
	var zipped bytes.Buffer
	writer := gzip.NewWriter(&zipped)
	_, _ = writer.Write([]byte(`{"success":true,"rejected":[{"index":0,"code":"c","message":"No."}]}`))
	_ = writer.Close()
	for _, c := range []struct {
		name, head string
		body       []byte
		reason     Reason
	}{
		{"upgrade", "101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x", nil, Refused},
		{"compressed", "200 OK\r\nContent-Encoding: gzip", zipped.Bytes(), Rejected},
		{"damaged", "200 OK\r\nContent-Encoding: gzip", []byte("not gzip"), Exhausted},
		{"unknown", "200 OK\r\nContent-Encoding: br", []byte("text"), Exhausted},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := runtime.NumGoroutine()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				conn := hijack(t, w)
				length := ""
				if c.body != nil {
					length = fmt.Sprintf("Content-Length: %d\r\n", len(c.body))
				}
				_, _ = fmt.Fprintf(conn, "HTTP/1.1 %s\r\n%s\r\n%s", c.head, length, c.body)
				// Stays open until the client closes it.
				_, _ = io.Copy(io.Discard, conn)
				conn.Close()
			}))
			transport := http.DefaultTransport.(*http.Transport).Clone()
			transport.DisableCompression = true
			client := New("wk_test")
			client.Endpoint, client.Client.Transport, client.MaxAttempts = server.URL, transport, 1
			client.DrainTimeout = limit
			var reason Reason
			client.OnError = func(err *SendError) { reason = err.Reason }
			if err := client.Track(&Track{UserId: "ada", Event: "E"}); err != nil {
				t.Fatal(err)
			}
			if err := client.Close(); unsentIn(err) != 1 || reason != c.reason || errors.Is(err, ErrNotDrained) {
				t.Errorf("reported as %q, Close returned %v", reason, err)
			}
			transport.CloseIdleConnections()
			server.Close()
			eventually(t, "goroutines", func() bool { return runtime.NumGoroutine() <= before })
		})
	}
}
