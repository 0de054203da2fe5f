package analytics

import (
	"encoding/json"
	"log"
	"log/slog"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// Version of this library. It is sent in the context of every batch and in the User-Agent.
const Version = "2.0.0"

// Endpoint is the default of [Client.Endpoint], the address of a local `npm start`. There is no hosted service.
const Endpoint = "http://localhost:8080"

const (
	defaultFlushAt      = 20
	defaultFlushAfter   = 5 * time.Second
	defaultQueueSize    = 10_000
	defaultQueueBytes   = 64 << 20
	defaultQueueSync    = 100 * time.Millisecond
	defaultMaxAge       = time.Hour
	defaultDrainTimeout = 10 * time.Second
)

// DefaultContext is part of the context of every batch. Keys in [Client.Context] override it. It is read when a client
// starts.
var DefaultContext = map[string]interface{}{
	"library": map[string]interface{}{"name": "analytics-go", "version": Version},
}

// A Policy decides what a call does when the queue is full.
type Policy int

const (
	// Block makes the call wait for capacity, for Close, or for its context. In OnError and OnSent it does not wait, because
	// it would wait for itself: there it returns [ErrQueueFull] together with [ErrInCallback].
	Block Policy = iota
	// Refuse makes the call return [ErrQueueFull] immediately, so that the program never waits for the network.
	Refuse
)

// A Client queues messages and sends them in the background. Its methods may be called concurrently. Its fields may be
// set between [New] and the first method call. That call reads them, and later changes have no effect.
type Client struct {
	// Endpoint is the address of the service, with or without /v1/batch.
	Endpoint string

	// FlushAt is the number of queued messages that starts a request. Default 20. Messages that are queued during a
	// request go into the next one. With 1, each message is sent immediately in a separate request, for use in
	// development.
	FlushAt int
	// Size is another name of FlushAt. Where both are set, Size counts.
	Size int

	// FlushAfter is the interval after which queued messages are sent, even if there are few. Default 5 seconds.
	FlushAfter time.Duration
	// Interval is another name of FlushAfter. Where both are set, Interval counts.
	Interval time.Duration

	// Gzip compresses the requests.
	Gzip bool

	// Context is sent with every batch, and the service adds it to each message. A message's own context overrides it.
	Context map[string]interface{}

	// Middleware is called with each call, in this order, before the call is validated. It may change or drop the call.
	Middleware []Middleware

	// QueueSize limits the messages that are queued or in flight. Default 10,000.
	QueueSize int
	// QueueBytes limits their total size as JSON. Default 64 MiB.
	QueueBytes int
	// WhenFull decides what a call does when the queue has no capacity for its message. By default it waits.
	WhenFull Policy

	// QueueDir is a folder in which the messages are also kept until they are sent, so that they survive the end of the
	// process. A client sends the messages of an earlier process first. Only one client at a time can use a folder.
	// Default: none, the queue is in memory.
	QueueDir string
	// QueueSync is the interval in which the files of QueueDir are written to the disk (fsync). A message survives the end
	// of the process as soon as its call has returned, and the end of the system after this interval. Default 100
	// milliseconds. A negative interval leaves it to the system.
	QueueSync time.Duration

	// MaxAttempts limits the failed attempts in a row for a batch. Default 0, no limit.
	MaxAttempts int
	// MaxAge is how long after its call a message is retried, also after a restart with QueueDir. Only a failed attempt ends
	// it. Default 1 hour. A negative value is no limit.
	MaxAge time.Duration

	// OnError receives queued messages that could not be sent. The sending goroutine calls it: nothing is sent meanwhile,
	// and methods that would wait return [ErrInCallback]. A panic in it is logged. Where it is nil, the messages are logged.
	OnError func(*SendError)
	// OnSent receives the messages that the service has accepted, as they were sent. The rules of OnError apply to it.
	OnSent func(messages []json.RawMessage)

	// DrainTimeout is how long Flush and Close wait for queued messages. Default 10 seconds.
	DrainTimeout time.Duration

	// Verbose enables debug logging. The environment variable DEBUG sets it, with a pattern that matches "analytics".
	Verbose bool
	// Logger writes to standard error by default.
	Logger *log.Logger
	// Slog is used instead of Logger, where it is set. Its handler decides about the level, and Verbose does not count.
	Slog *slog.Logger

	// Client sends the requests. Where its Timeout is 0, the timeout of a request is 15 seconds. Where its Transport is
	// nil, the client uses its own connection. Where CheckRedirect is nil, redirects are not followed, because they would
	// drop the posted body.
	Client http.Client

	writeKey string
	starting sync.Once
	startErr error
	queue    *queue
	sender   *sender
	// Calls that returned an error, and calls that a middleware dropped.
	refused, dropped atomic.Uint64
	// Reported messages that Flush has returned.
	flushed  atomic.Uint64
	closing  sync.Once
	closeErr error
}

// New creates a client with the write key of a source and the default settings. Without a write key, every call returns
// an error.
func New(writeKey string) *Client {
	return &Client{
		Endpoint:     Endpoint,
		FlushAt:      defaultFlushAt,
		FlushAfter:   defaultFlushAfter,
		QueueSize:    defaultQueueSize,
		QueueBytes:   defaultQueueBytes,
		QueueSync:    defaultQueueSync,
		MaxAge:       defaultMaxAge,
		DrainTimeout: defaultDrainTimeout,
		Verbose:      matchesDebug(os.Getenv("DEBUG"), "analytics"),
		Logger:       log.New(os.Stderr, "analytics ", log.LstdFlags),
		Client:       http.Client{Timeout: requestTimeout},
		writeKey:     writeKey,
	}
}
