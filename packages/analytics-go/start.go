package analytics

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"strings"
	"time"

	"github.com/tailrace/tailrace/packages/analytics-go/v2/internal/journal"
)

// start reads the fields, once, and starts the sender.
func (c *Client) start() error {
	c.starting.Do(func() {
		// Remains where code of the program panics, such as the handler of its log.
		c.startErr = errors.New("analytics: the client could not start")
		c.startErr = c.startSender()
	})
	return c.startErr
}

func (c *Client) startSender() error {
	if c.writeKey == "" {
		return &FieldError{Type: "Client", Field: "WriteKey", Reason: "is required: pass the write key of a source to New"}
	}
	target, err := batchURL(c.Endpoint)
	if err != nil {
		return err
	}
	batchContext, err := c.batchContext()
	if err != nil {
		return err
	}
	flushAt := orDefault(c.Size, orDefault(c.FlushAt, defaultFlushAt))
	size, bytes := orDefault(c.QueueSize, defaultQueueSize), orDefault(c.QueueBytes, defaultQueueBytes)
	queue := newQueue(flushAt, size, bytes, c.WhenFull == Block, envelopeBytes(batchContext))
	report := &reporter{queue: queue, onError: c.OnError, onSent: c.OnSent, log: newLogs(c)}
	sender := newSender(c, queue, newPoster(c, target, batchContext), report)
	if c.QueueDir != "" {
		if err := c.keepInFiles(sender); err != nil {
			return err
		}
	}
	queue.isSender = sender.isCaller
	c.queue, c.sender = queue, sender
	go sender.run(orDefault(c.Interval, orDefault(c.FlushAfter, defaultFlushAfter)))
	return nil
}

// keepInFiles restores the messages of an earlier process, and stores the following ones.
func (c *Client) keepInFiles(s *sender) error {
	failed := func(err error) error {
		reason := "cannot be used: " + err.Error()
		if errors.Is(err, journal.ErrInUse) {
			reason = "is used by another client: give each process a folder of its own"
		}
		return &FieldError{Type: "Client", Field: "QueueDir", Reason: reason, Err: err}
	}
	files, err := journal.Open(c.QueueDir)
	if err != nil {
		return failed(err)
	}
	damages, err := files.Replay(s.queue.restore)
	if err != nil {
		return failed(errors.Join(err, files.Close()))
	}
	s.damages = damages
	s.queue.store = func(message []byte) (uint64, error) {
		number, err := files.Append(message, time.Now())
		if err != nil {
			return 0, fmt.Errorf("%w: %w", ErrNotStored, err)
		}
		return number, nil
	}
	s.report.keeps = files.Intact
	notRecorded := func(err error) {
		if err != nil {
			s.log.warn("settled messages are not recorded, and may be sent again after a restart", "error", err)
		}
	}
	s.report.settled = func(b *batch, p part) {
		notRecorded(files.Settle(b.stored[p.from:p.to], b.messageBytes(p)))
	}
	s.compact = func(held []*asideMessage, always bool) { notRecorded(compact(files, held, always)) }
	syncEvery := c.QueueSync
	if syncEvery == 0 {
		syncEvery = defaultQueueSync
	}
	stopSyncing := files.SyncEvery(syncEvery, func(err error) {
		s.log.warn("the queue is not written to the disk", "error", err)
	})
	s.release = func() {
		stopSyncing()
		if err := files.Close(); err != nil {
			s.log.warn("the queue is not closed", "error", err)
		}
	}
	// The stored messages have waited long enough.
	s.queue.release()
	s.queue.wakeSender()
	return nil
}

// compact writes the messages aside again, behind all others, where they are older and keep settled ones in the files: many, or
// always any.
func compact(files *journal.Journal, held []*asideMessage, always bool) error {
	oldest := held[0]
	for _, m := range held {
		if m.batch.stored[0] < oldest.batch.stored[0] {
			oldest = m
		}
	}
	if !files.IsHeldUp(oldest.batch.stored[0], always) {
		return nil
	}
	now := time.Now()
	copies, originals, bytes := []uint64{}, []uint64{}, 0
	var err error
	for _, m := range held {
		number, failed := files.Append(m.batch.body, now.Add(m.batch.calledAt[0]-sinceStart(now)))
		if err = failed; err != nil {
			break
		}
		copies, originals = append(copies, number), append(originals, m.batch.stored[0])
		bytes += len(m.batch.body)
	}
	// The copies are on the disk before the files of the originals are removed.
	if err = errors.Join(err, files.Sync()); err != nil {
		return errors.Join(err, files.Settle(copies, bytes))
	}
	for i, m := range held {
		m.batch.stored[0] = copies[i]
	}
	return files.Settle(originals, bytes)
}

// batchURL is the URL of the requests: the endpoint, with /v1/batch if it does not end in it, or in /v1/import, another name of it.
func batchURL(endpoint string) (string, error) {
	if endpoint == "" {
		endpoint = Endpoint
	}
	parsed, err := url.Parse(endpoint)
	if err != nil {
		return "", &FieldError{Type: "Client", Field: "Endpoint", Reason: "is no URL", Err: err}
	}
	if parsed.Scheme != "http" && parsed.Scheme != "https" || parsed.Host == "" {
		return "", &FieldError{Type: "Client", Field: "Endpoint", Reason: "is no http or https URL with a host"}
	}
	base := parsed.JoinPath()
	base.Path, base.RawPath = strings.TrimRight(base.Path, "/"), strings.TrimRight(base.RawPath, "/")
	if strings.HasSuffix(base.Path, "/v1/batch") || strings.HasSuffix(base.Path, "/v1/import") {
		return base.String(), nil
	}
	return base.JoinPath("v1", "batch").String(), nil
}

// batchContext returns the context of the client's batches as JSON.
func (c *Client) batchContext() ([]byte, error) {
	merged := map[string]interface{}{}
	maps.Copy(merged, DefaultContext)
	maps.Copy(merged, c.Context)
	written, err := func() (written []byte, err error) {
		defer asError(&err, "it panicked")
		return json.Marshal(merged)
	}()
	if err != nil {
		return nil, &FieldError{Type: "Client", Field: "Context", Reason: "cannot be written as JSON: " + err.Error(), Err: err}
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
