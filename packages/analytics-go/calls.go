package analytics

import (
	"context"
	"errors"
)

// The methods with a context differ from those without only when the queue is full and [Client.WhenFull] is [Block]: the
// call then waits no longer than its context, and returns [ErrQueueFull] together with the context's error. The context
// does not end the sending of the message.

// Identify queues an identify call. Like the other calls it may return a [FieldError], [ErrTooLarge], [ErrQueueFull],
// [ErrNotStored] or [ErrClosed]. It does not retain or modify the message.
func (c *Client) Identify(m *Identify) error { return c.IdentifyContext(context.Background(), m) }

// IdentifyContext is Identify, which waits for capacity no longer than ctx.
func (c *Client) IdentifyContext(ctx context.Context, m *Identify) error {
	return c.enqueue(ctx, m.call())
}

// Track queues a track call.
func (c *Client) Track(m *Track) error { return c.TrackContext(context.Background(), m) }

// TrackContext is Track, which waits for capacity no longer than ctx.
func (c *Client) TrackContext(ctx context.Context, m *Track) error { return c.enqueue(ctx, m.call()) }

// Page queues a page call.
func (c *Client) Page(m *Page) error { return c.PageContext(context.Background(), m) }

// PageContext is Page, which waits for capacity no longer than ctx.
func (c *Client) PageContext(ctx context.Context, m *Page) error { return c.enqueue(ctx, m.call()) }

// Screen queues a screen call.
func (c *Client) Screen(m *Screen) error { return c.ScreenContext(context.Background(), m) }

// ScreenContext is Screen, which waits for capacity no longer than ctx.
func (c *Client) ScreenContext(ctx context.Context, m *Screen) error { return c.enqueue(ctx, m.call()) }

// Group queues a group call.
func (c *Client) Group(m *Group) error { return c.GroupContext(context.Background(), m) }

// GroupContext is Group, which waits for capacity no longer than ctx.
func (c *Client) GroupContext(ctx context.Context, m *Group) error { return c.enqueue(ctx, m.call()) }

// Alias queues an alias call.
func (c *Client) Alias(m *Alias) error { return c.AliasContext(context.Background(), m) }

// AliasContext is Alias, which waits for capacity no longer than ctx.
func (c *Client) AliasContext(ctx context.Context, m *Alias) error { return c.enqueue(ctx, m.call()) }

func (c *Client) enqueue(ctx context.Context, call Call) error {
	if err := c.start(); err != nil {
		return c.refuse(err)
	}
	if c.queue.closed.Load() {
		return c.refuse(ErrClosed)
	}
	e := encoders.Get().(*encoder)
	if len(c.Middleware) > 0 && !call.isMissing {
		return c.enqueueChanged(ctx, e, call)
	}
	return c.add(ctx, e, e.encode(&call))
}

// add queues the message of the encoder, unless it could not be written.
func (c *Client) add(ctx context.Context, e *encoder, err error) error {
	if err == nil {
		err = c.queue.add(ctx, e.buf, e.calledAt)
	}
	e.free()
	return c.refuse(err)
}

// refuse counts a call, if it returns an error. Close returns the number, for programs that ignore the errors of calls.
func (c *Client) refuse(err error) error {
	if err != nil && !errors.Is(err, ErrClosed) {
		c.refused.Add(1)
	}
	return err
}
