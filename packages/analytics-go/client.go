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

// Version of this library. It stands in the context of every batch and in the User-Agent.
const Version = "0.1.0"

// Endpoint is the default of [Client.Endpoint]: where `npm start` of Tailrace listens. There is no hosted service.
const Endpoint = "http://localhost:8080"

const (
	defaultFlushAt      = 20
	defaultFlushAfter   = 5 * time.Second
	defaultQueueSize    = 10_000
	defaultQueueBytes   = 64 << 20
	defaultDrainTimeout = 10 * time.Second
)

// DefaultContext is what the context of every batch begins with. [Client.Context] comes on top of it. It is read when a client
// begins to work.
var DefaultContext = map[string]interface{}{
	"library": map[string]interface{}{"name": "analytics-go", "version": Version},
}

// A Policy says what a call does when the queue is full.
type Policy int

const (
	// Refuse makes the call return [ErrQueueFull] at once, so that the program never waits for the network.
	Refuse Policy = iota
	// Block makes the call wait for room, or for Close. OnError must not make calls then: it would wait for itself.
	Block
)

// A Client queues messages and sends them in the background. All its methods may be called by any number of goroutines at a time.
// Its fields may be set between [New] and the first method call; that call reads them, and later changes have no effect.
type Client struct {
	// Endpoint of the service, without /v1/batch.
	Endpoint string

	// FlushAt is how many messages must wait before they are sent: 20. While a request is under way more may gather, and go with
	// the next. 1 sends each message at once, in a request of its own, for use in development.
	FlushAt int
	// Size is another name of FlushAt. It wins where it is set.
	Size int

	// FlushAfter is how long after the last flush what waits is sent, however little it is: 5 seconds.
	FlushAfter time.Duration
	// Interval is another name of FlushAfter. It wins where it is set.
	Interval time.Duration

	// Gzip compresses the requests.
	Gzip bool

	// Context goes with every batch, and the service gives it to each of its messages; a message's own context wins.
	Context map[string]interface{}

	// QueueSize is how many messages may wait or be under way at a time: 10,000.
	QueueSize int
	// QueueBytes is how large they may be together, as JSON: 64 MiB.
	QueueBytes int
	// WhenFull says what a call does when there is no room for its message.
	WhenFull Policy

	// MaxAttempts is how often a batch is tried before it is given up: without end where it is 0. The queue is bounded all the
	// same. What the service refuses for good is not tried again.
	MaxAttempts int

	// OnError is told of messages that were queued and could not be sent. It is called by the goroutine that sends: while it
	// runs, nothing is sent, and it must not call Flush or Close. Where it is nil, Logger is told.
	OnError func(*SendError)

	// DrainTimeout is how long Flush and Close wait for what is queued: 10 seconds.
	DrainTimeout time.Duration

	// Verbose logs what the client does. The environment variable DEBUG=analytics sets it.
	Verbose bool
	// Logger is what it logs to: standard error.
	Logger *log.Logger

	// Client sends the requests. Where its Timeout is 0 each may take 15 seconds; where its Transport is nil it has a connection of
	// its own; where CheckRedirect is nil redirects are not followed, because they would lose what was posted.
	Client http.Client

	writeKey string
	starting sync.Once
	startErr error
	queue    *queue
	sender   *sender
	closing  sync.Once
	closeErr error
}

// New makes a client with the write key of a source, and the defaults that its fields name.
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

// isDebugged reads names separated by commas or spaces, as the debug packages do that made DEBUG common.
func isDebugged(names string) bool {
	for _, name := range strings.FieldsFunc(names, func(r rune) bool { return r == ',' || r == ' ' }) {
		if name == "analytics" || name == "*" {
			return true
		}
	}
	return false
}

// Identify queues an identify call. It returns a [FieldError], [ErrTooLarge], [ErrQueueFull] or [ErrClosed] where it does not, as
// the other calls do. It keeps nothing of the message, and changes nothing in it.
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

// Flush sends what is queued without waiting for more, and returns when all of it is settled: nil if it was sent, [ErrNotSent] if
// OnError was told of some of it. After DrainTimeout it returns [ErrNotDrained]; the messages stay queued and are still tried.
func (c *Client) Flush() error {
	ctx, cancel := context.WithTimeout(context.Background(), orDefault(c.DrainTimeout, defaultDrainTimeout))
	defer cancel()
	return c.FlushContext(ctx)
}

// FlushContext is Flush, with the deadline of ctx in place of DrainTimeout.
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

// Close sends what is queued, and returns when all of it is settled, as Flush does. What is not settled after DrainTimeout goes to
// OnError, and Close returns [ErrNotDrained]. Calls made after it return [ErrClosed]. Further Closes wait for the first, and return
// the same.
func (c *Client) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), orDefault(c.DrainTimeout, defaultDrainTimeout))
	defer cancel()
	return c.CloseContext(ctx)
}

// CloseContext is Close, with the deadline of ctx in place of DrainTimeout.
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

// batchContext is the context of the client's batches as JSON.
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

// orDefault is value where it is set.
func orDefault[T int | time.Duration](value, otherwise T) T {
	if value > 0 {
		return value
	}
	return otherwise
}
