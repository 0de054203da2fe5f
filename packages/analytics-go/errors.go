package analytics

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
)

var (
	// ErrClosed is what a call returns after [Client.Close].
	ErrClosed = errors.New("analytics: the client is closed")

	// ErrQueueFull is what a call returns when there is no room for its message and [Client.WhenFull] is [Refuse]. The message was
	// not queued: the service is down, or slower than the calls.
	ErrQueueFull = errors.New("analytics: the queue is full")

	// ErrTooLarge is what a call returns, wrapped, whose message is larger than [MaxMessageBytes].
	ErrTooLarge = errors.New("analytics: the message is too large")

	// ErrNotDrained is what Flush and Close return, wrapped, when time ran out before everything queued was settled.
	ErrNotDrained = errors.New("analytics: not everything was sent in time")

	// ErrNotSent is what Flush and Close return, wrapped, when messages they waited for could not be sent. [Client.OnError] was
	// told of each.
	ErrNotSent = errors.New("analytics: messages could not be sent")
)

// A FieldError says which field of a message, or of the client, cannot be used, and why.
type FieldError struct {
	// Type is the name of the struct: "Track", or "Client".
	Type string
	// Field is the name of its field: "Event". Where one of UserId and AnonymousId is required it is "UserId".
	Field string
	// Reason completes the sentence that begins with the field.
	Reason string
	// Err is the error of encoding/json, where a value cannot be written as JSON.
	Err error
}

func (e *FieldError) Error() string {
	return fmt.Sprintf("analytics: %s.%s %s", e.Type, e.Field, e.Reason)
}

func (e *FieldError) Unwrap() error { return e.Err }

// A Reason says why messages could not be sent.
type Reason string

const (
	// Refused: the service answered with a status that another attempt would not change, which is any but 2xx, 429 and 5xx.
	Refused Reason = "refused"
	// Rejected: the service took the batch, but set these messages aside as unusable.
	Rejected Reason = "rejected"
	// Exhausted: [Client.MaxAttempts] attempts have failed.
	Exhausted Reason = "exhausted"
	// ClosedEarly: the client was closed, and its deadline passed. What was under way then may have arrived all the same.
	ClosedEarly Reason = "closed"
)

// A SendError says which queued messages could not be sent, and why. [Client.OnError] receives it.
type SendError struct {
	Reason Reason
	// Messages as they would have been sent, for whoever wants to keep them.
	Messages []json.RawMessage
	// Status of the last answer; 0 where there was none.
	Status int
	// Attempts that were made.
	Attempts int
	// Err is what the last attempt ended with: an error of net/http, or what the service answered.
	Err error
}

func (e *SendError) Error() string {
	return fmt.Sprintf("analytics: %d messages not sent (%s, %d attempts): %v", len(e.Messages), e.Reason, e.Attempts, e.Err)
}

func (e *SendError) Unwrap() error { return e.Err }

// answerError is an answer that is no success.
type answerError struct {
	status int
	// What the service says, or nothing.
	message string
}

func (e *answerError) Error() string {
	text := fmt.Sprintf("the service answered %d %s", e.status, http.StatusText(e.status))
	if e.message == "" {
		return text
	}
	return text + ": " + e.message
}
