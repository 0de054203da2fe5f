package analytics

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"
)

// Version of this library. It is sent in the context of every batch and in the User-Agent.
const Version = "0.1.0"

// Endpoint is the default of [Client.Endpoint], the address of a local `npm start`. There is no hosted service.
const Endpoint = "http://localhost:8080"

const (
	defaultFlushAt      = 20
	defaultFlushAfter   = 5 * time.Second
	defaultQueueSize    = 10_000
	defaultQueueBytes   = 64 << 20
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
	// Refuse makes the call return [ErrQueueFull] immediately, so that the program never waits for the network.
	Refuse Policy = iota
	// Block makes the call wait for capacity, or for Close. OnError must not make calls then, because it would wait for
	// itself.
	Block
)

// A Client queues messages and sends them in the background. Its methods may be called concurrently. Its fields may be
// set between [New] and the first method call. That call reads them, and later changes have no effect.
type Client struct {
	// Endpoint of the service, without /v1/batch.
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

	// QueueSize limits the messages that are queued or in flight. Default 10,000.
	QueueSize int
	// QueueBytes limits their total size as JSON. Default 64 MiB.
	QueueBytes int
	// WhenFull decides what a call does when the queue has no capacity for its message.
	WhenFull Policy

	// MaxAttempts limits the attempts for a batch. Default 0, unlimited. The queue is bounded in any case. A permanent
	// error of the service is not retried.
	MaxAttempts int

	// OnError receives queued messages that could not be sent. The sending goroutine calls it: nothing is sent meanwhile,
	// and it must not call Flush or Close. Where it is nil, the messages are reported to Logger.
	OnError func(*SendError)

	// DrainTimeout is how long Flush and Close wait for queued messages. Default 10 seconds.
	DrainTimeout time.Duration

	// Verbose enables debug logging. The environment variable DEBUG=analytics sets it.
	Verbose bool
	// Logger writes to standard error by default.
	Logger *log.Logger

	// Client sends the requests. Where its Timeout is 0, the timeout of a request is 15 seconds. Where its Transport is
	// nil, the client uses its own connection. Where CheckRedirect is nil, redirects are not followed, because they would
	// drop the posted body.
	Client http.Client

	writeKey string
	starting sync.Once
	startErr error
	queue    *queue
	sender   *sender
	closing  sync.Once
	closeErr error
}

// New creates a client with the write key of a source and the default settings.
func New(writeKey string) *Client {
	return &Client{
		Endpoint:     Endpoint,
		FlushAt:      defaultFlushAt,
		FlushAfter:   defaultFlushAfter,
		QueueSize:    defaultQueueSize,
		QueueBytes:   defaultQueueBytes,
		DrainTimeout: defaultDrainTimeout,
		Verbose:      isDebugged(os.Getenv("DEBUG")),
		Logger:       log.New(os.Stderr, "analytics ", log.LstdFlags),
		Client:       http.Client{Timeout: requestTimeout},
		writeKey:     writeKey,
	}
}

// isDebugged reads names separated by commas or spaces, the usual format of DEBUG.
func isDebugged(names string) bool {
	for _, name := range strings.FieldsFunc(names, func(r rune) bool { return r == ',' || r == ' ' }) {
		if name == "analytics" || name == "*" {
			return true
		}
	}
	return false
}

// Identify queues an identify call. Like the other calls it may return a [FieldError], [ErrTooLarge], [ErrQueueFull] or
// [ErrClosed]. It does not retain or modify the message.
func (c *Client) Identify(m *Identify) error {
	e, err := c.open()
	if err != nil {
		return err
	}
	return c.enqueue(e, m.encode(e))
}

// Track queues a track call.
func (c *Client) Track(m *Track) error {
	e, err := c.open()
	if err != nil {
		return err
	}
	return c.enqueue(e, m.encode(e))
}

// Page queues a page call.
func (c *Client) Page(m *Page) error {
	e, err := c.open()
	if err != nil {
		return err
	}
	return c.enqueue(e, m.encode(e))
}

// Screen queues a screen call.
func (c *Client) Screen(m *Screen) error {
	e, err := c.open()
	if err != nil {
		return err
	}
	return c.enqueue(e, m.encode(e))
}

// Group queues a group call.
func (c *Client) Group(m *Group) error {
	e, err := c.open()
	if err != nil {
		return err
	}
	return c.enqueue(e, m.encode(e))
}

// Alias queues an alias call.
func (c *Client) Alias(m *Alias) error {
	e, err := c.open()
	if err != nil {
		return err
	}
	return c.enqueue(e, m.encode(e))
}

func (c *Client) open() (*encoder, error) {
	if err := c.start(); err != nil {
		return nil, err
	}
	if c.queue.closed.Load() {
		return nil, ErrClosed
	}
	return encoders.Get().(*encoder), nil
}

func (c *Client) enqueue(e *encoder, err error) error {
	if err == nil {
		err = c.queue.add(e.buf)
	}
	e.free()
	return err
}

// Flush sends the queued messages immediately, and returns when all of them are settled: nil if they were sent,
// [ErrNotSent] if some were reported to OnError. After DrainTimeout it returns [ErrNotDrained], and the messages remain
// queued.
func (c *Client) Flush() error {
	ctx, cancel := context.WithTimeout(context.Background(), orDefault(c.DrainTimeout, defaultDrainTimeout))
	defer cancel()
	return c.FlushContext(ctx)
}

// FlushContext is Flush with the deadline of ctx, which replaces DrainTimeout.
func (c *Client) FlushContext(ctx context.Context) error {
	if err := c.start(); err != nil {
		return err
	}
	failedBefore := c.sender.failed.Load()
	settled, closed := c.queue.flush()
	if closed {
		return ErrClosed
	}
	select {
	case <-settled:
		return notSent(c.sender.failed.Load() - failedBefore)
	case <-ctx.Done():
		return fmt.Errorf("%w: %d messages wait (%w)", ErrNotDrained, c.queue.held(), ctx.Err())
	}
}

// Close sends the queued messages, and returns when all of them are settled, as Flush does. Messages that are not
// settled after DrainTimeout are reported to OnError, and Close returns [ErrNotDrained]. Later calls return
// [ErrClosed]. Further calls of Close wait for the first, and return the same.
func (c *Client) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), orDefault(c.DrainTimeout, defaultDrainTimeout))
	defer cancel()
	return c.CloseContext(ctx)
}

// CloseContext is Close with the deadline of ctx, which replaces DrainTimeout.
func (c *Client) CloseContext(ctx context.Context) error {
	c.closing.Do(func() { c.closeErr = c.drain(ctx) })
	return c.closeErr
}

func (c *Client) drain(ctx context.Context) error {
	if err := c.start(); err != nil {
		return err
	}
	failedBefore := c.sender.failed.Load()
	c.queue.close()
	select {
	case <-c.sender.done:
		return notSent(c.sender.failed.Load() - failedBefore)
	case <-ctx.Done():
		c.sender.stop()
		<-c.sender.done
	}
	if failed := c.sender.failed.Load() - failedBefore; failed > 0 {
		return fmt.Errorf("%w: %d messages were not (%w)", ErrNotDrained, failed, ctx.Err())
	}
	return nil
}

func notSent(count uint64) error {
	if count == 0 {
		return nil
	}
	return fmt.Errorf("%w: %d of them", ErrNotSent, count)
}

// start reads the fields, once, and starts the sender.
func (c *Client) start() error {
	c.starting.Do(func() {
		target, err := batchURL(c.Endpoint)
		if err != nil {
			c.startErr = err
			return
		}
		batchContext, err := c.batchContext()
		if err != nil {
			c.startErr = err
			return
		}
		flushAt := orDefault(c.Size, orDefault(c.FlushAt, defaultFlushAt))
		size, bytes := orDefault(c.QueueSize, defaultQueueSize), orDefault(c.QueueBytes, defaultQueueBytes)
		c.queue = newQueue(flushAt, size, bytes, c.WhenFull == Block, tailBytes(batchContext))
		c.sender = newSender(c, target, batchContext)
		go c.sender.run(orDefault(c.Interval, orDefault(c.FlushAfter, defaultFlushAfter)))
	})
	return c.startErr
}

func batchURL(endpoint string) (string, error) {
	if endpoint == "" {
		endpoint = Endpoint
	}
	parsed, err := url.Parse(strings.TrimSuffix(endpoint, "/"))
	if err != nil {
		return "", &FieldError{Type: "Client", Field: "Endpoint", Reason: "is no URL", Err: err}
	}
	if parsed.Scheme != "http" && parsed.Scheme != "https" || parsed.Host == "" {
		return "", &FieldError{Type: "Client", Field: "Endpoint", Reason: "is no http or https URL with a host"}
	}
	return parsed.JoinPath("v1", "batch").String(), nil
}

// batchContext returns the context of the client's batches as JSON.
func (c *Client) batchContext() ([]byte, error) {
	merged := map[string]interface{}{}
	for _, part := range []map[string]interface{}{DefaultContext, c.Context} {
		for key, value := range part {
			merged[key] = value
		}
	}
	written, err := json.Marshal(merged)
	if err != nil {
		return nil, &FieldError{Type: "Client", Field: "Context", Reason: "cannot be written as JSON", Err: err}
	}
	if len(written) > MaxMessageBytes {
		return nil, &FieldError{Type: "Client", Field: "Context", Reason: fmt.Sprintf("has more than %d bytes as JSON", MaxMessageBytes)}
	}
	return written, nil
}

// orDefault returns value if it is set.
func orDefault[T int | time.Duration](value, otherwise T) T {
	if value > 0 {
		return value
	}
	return otherwise
}
