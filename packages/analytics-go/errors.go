package analytics

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
)

var (
	// ErrClosed is returned by a call after [Client.Close].
	ErrClosed = errors.New("analytics: the client is closed")

	// ErrQueueFull is returned by a call when the queue has no capacity and [Client.WhenFull] is [Refuse], or, wrapped
	// together with the error of the context, when the context of the call ended while it waited. The message was not
	// queued: the service is unavailable, or slower than the calls.
	ErrQueueFull = errors.New("analytics: the queue is full")

	// ErrTooLarge is returned, wrapped, by a call whose message is larger than [MaxMessageBytes].
	ErrTooLarge = errors.New("analytics: the message is too large")

	// ErrNotStored is returned, wrapped together with the error of the file system, by a call whose message could not be
	// written to [Client.QueueDir]. The message was not queued.
	ErrNotStored = errors.New("analytics: the message could not be stored")

	// ErrNotDrained is returned, wrapped, by Flush and Close when the deadline passed before all queued messages were
	// settled.
	ErrNotDrained = errors.New("analytics: not everything was sent in time")

	// ErrInCallback is returned by a method that would wait for the goroutine that calls it: [Client.Flush], [Client.Close],
	// and a call while the queue is full, in OnError, OnSent, the transport of the http.Client or the handler of the log.
	// Flush and Close then continue in the background. A call returns it wrapped together with ErrQueueFull.
	ErrInCallback = errors.New("analytics: called in a callback of the client, which cannot wait for itself")

	// ErrNotSent is returned, wrapped in an [UnsentError], by Flush and Close when some of the messages could not be sent.
	// Each was reported to [Client.OnError], or its call returned an error.
	ErrNotSent = errors.New("analytics: messages could not be sent")
)

// An UnsentError counts the messages that were not sent. Flush and Close return it.
type UnsentError struct {
	// Reported messages were queued, and then reported to [Client.OnError], or logged.
	Reported uint64
	// Refused messages were not queued: their calls returned an error. Flush does not count them.
	Refused uint64
	// Kept messages are in [Client.QueueDir], and are sent after the next start.
	Kept uint64
	// Queued messages are neither sent nor reported yet, because code of the program, such as OnError, has not returned five
	// seconds after the deadline of Close.
	Queued uint64
	// Err is ErrNotSent, or wraps ErrNotDrained.
	Err error
}

func (e *UnsentError) Error() string {
	text := fmt.Sprintf("%v: %d reported, %d refused by the call, %d kept in files", e.Err, e.Reported, e.Refused, e.Kept)
	if e.Queued > 0 {
		text += fmt.Sprintf(", %d left in the queue", e.Queued)
	}
	return text
}

func (e *UnsentError) Unwrap() error { return e.Err }

// A FieldError names the invalid field of a message, or of the client, and the reason.
type FieldError struct {
	// Type is the name of the struct: "Track", or "Client".
	Type string
	// Field is the name of its field: "Event". Where one of UserId and AnonymousId is required it is "UserId".
	Field string
	// Reason completes a sentence that begins with the field.
	Reason string
	// Err is the error of encoding/json, if a value cannot be written as JSON.
	Err error
}

func (e *FieldError) Error() string {
	return fmt.Sprintf("analytics: %s.%s %s", e.Type, e.Field, e.Reason)
}

func (e *FieldError) Unwrap() error { return e.Err }

// A Reason is the cause for which messages could not be sent.
type Reason string

const (
	// Refused: the service answered with a permanent error, any status except 2xx, 408, 429 and 5xx. Messages are refused
	// together only where the answer concerns all of them. Or it failed for a message 20 times in at least 15 minutes, with a
	// 5xx, while it took others.
	Refused Reason = "refused"
	// Rejected: the service accepted the batch, but rejected these messages as invalid.
	Rejected Reason = "rejected"
	// Exhausted: [Client.MaxAttempts] attempts for their batch have failed in a row.
	Exhausted Reason = "exhausted"
	// Expired: an attempt for their batch has failed, and the messages are older than [Client.MaxAge].
	Expired Reason = "expired"
	// Damaged: a file of [Client.QueueDir] has an incomplete or damaged record, which is skipped. Messages is empty. A
	// process that is killed during a call may leave one.
	Damaged Reason = "damaged"
	// ClosedEarly: the client was closed, and its deadline passed. Messages in flight may have arrived.
	ClosedEarly Reason = "closed"
)

// A SendError contains queued messages that could not be sent, and the reason. It is passed to [Client.OnError].
type SendError struct {
	Reason Reason
	// Messages as they would have been sent. The program can store them.
	Messages []json.RawMessage
	// Status of the last response, or 0 without one.
	Status int
	// Attempts is the number of attempts.
	Attempts int
	// Err is the error of the last attempt: an error of net/http, or the response of the service.
	Err error
}

func (e *SendError) Error() string {
	return fmt.Sprintf("analytics: %d messages not sent (%s, %d attempts): %v", len(e.Messages), e.Reason, e.Attempts, e.Err)
}

func (e *SendError) Unwrap() error { return e.Err }

// answerError is a response that is not a success.
type answerError struct {
	status int
	// The message of the service, if any.
	message string
}

func (e *answerError) Error() string {
	text := fmt.Sprintf("the service answered %d %s", e.status, http.StatusText(e.status))
	if e.message == "" {
		return text
	}
	return text + ": " + e.message
}
