package analytics

import (
	"context"
	"fmt"
)

// Flush sends the queued messages immediately, and returns when all of them are settled: nil if they were sent, an
// [UnsentError] if messages were reported to OnError since the last Flush. After DrainTimeout it returns [ErrNotDrained],
// and the messages remain queued. In a callback it returns [ErrInCallback] immediately.
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
	settled, closed := c.queue.flush()
	switch {
	case closed:
		return ErrClosed
	case c.sender.isCaller():
		return ErrInCallback
	}
	select {
	case <-settled:
		return unsent(UnsentError{Reported: c.failedSinceFlush(), Err: ErrNotSent})
	case <-ctx.Done():
		_, held, _ := c.queue.totals()
		return fmt.Errorf("%w: %d messages wait (%w)", ErrNotDrained, held, ctx.Err())
	}
}

// failedSinceFlush returns each reported message to one Flush, also where several run at the same time.
func (c *Client) failedSinceFlush() uint64 {
	for {
		before, now := c.flushed.Load(), c.sender.report.failedCount.Load()
		if now <= before {
			return 0
		}
		if c.flushed.CompareAndSwap(before, now) {
			return now - before
		}
	}
}

// Close sends the queued messages, and returns when all of them are settled. Where calls of this client were not sent,
// it returns an [UnsentError] with their number: those that were reported to OnError, and those that returned an error,
// since [New]. Messages that are not settled after DrainTimeout are reported to OnError, or stay in QueueDir for the next
// start, and the UnsentError wraps [ErrNotDrained]. Later calls return [ErrClosed]. Further calls of Close wait for the
// first, and return the same. In a callback Close returns [ErrInCallback] immediately, and continues in the background.
func (c *Client) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), orDefault(c.DrainTimeout, defaultDrainTimeout))
	defer cancel()
	return c.CloseContext(ctx)
}

// CloseContext is Close with the deadline of ctx, which replaces DrainTimeout.
func (c *Client) CloseContext(ctx context.Context) error {
	if c.start() == nil && c.sender.isCaller() {
		c.queue.close()
		go c.closeLater(ctx)
		return ErrInCallback
	}
	c.closing.Do(func() { c.closeErr = c.drain(ctx) })
	return c.closeErr
}

// closeLater closes with the deadline of a context that the callback cancels when it returns.
func (c *Client) closeLater(ctx context.Context) {
	deadline, hasDeadline := ctx.Deadline()
	ctx = context.WithoutCancel(ctx)
	if hasDeadline {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, deadline)
		defer cancel()
	}
	_ = c.CloseContext(ctx)
}

func (c *Client) drain(ctx context.Context) error {
	if err := c.start(); err != nil {
		return err
	}
	c.queue.close()
	cause, queued := ErrNotSent, 0
	select {
	case <-c.sender.done:
	case <-ctx.Done():
		c.sender.stop()
		if !c.sender.awaitEnd() {
			queued = c.Stats().Queued
			cause = fmt.Errorf("%w: a callback or the http.Client does not return (%w)", ErrNotDrained, ctx.Err())
		} else if c.sender.report.wasCut.Load() {
			cause = fmt.Errorf("%w (%w)", ErrNotDrained, ctx.Err())
		}
	}
	report := c.sender.report
	return unsent(UnsentError{report.failedCount.Load(), c.refused.Load(), report.keptCount.Load(), uint64(queued), cause})
}

// unsent returns nil if all its numbers are 0.
func unsent(counted UnsentError) error {
	if counted.Reported+counted.Refused+counted.Kept+counted.Queued == 0 {
		return nil
	}
	return &counted
}

// Stats are counters since [New]. Accepted messages are either sent, failed, kept or queued.
type Stats struct {
	// Accepted messages: their calls returned nil, or they were restored from QueueDir.
	Accepted uint64
	// Sent messages: the service has accepted them.
	Sent uint64
	// Failed messages were reported to OnError.
	Failed uint64
	// Kept messages are in QueueDir for the next start.
	Kept uint64
	// Refused calls returned an error other than ErrClosed.
	Refused uint64
	// Dropped calls: a middleware dropped them.
	Dropped uint64
	// Queued messages wait or are in flight. Their total size as JSON is QueuedBytes.
	Queued, QueuedBytes int
	// Requests are attempts, of which Retries repeat another.
	Requests, Retries uint64
}

// Stats returns the counters. It may be called at any time, also after Close.
func (c *Client) Stats() Stats {
	stats := Stats{Refused: c.refused.Load(), Dropped: c.dropped.Load()}
	if c.start() != nil {
		return stats
	}
	report := c.sender.report
	stats.Sent, stats.Failed, stats.Kept = report.sentCount.Load(), report.failedCount.Load(), report.keptCount.Load()
	stats.Requests, stats.Retries = report.requests.Load(), report.retries.Load()
	stats.Accepted, _, stats.QueuedBytes = c.queue.totals()
	stats.Queued = int(stats.Accepted - stats.Sent - stats.Failed - stats.Kept)
	return stats
}
