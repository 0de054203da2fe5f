package analytics

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"sync"
	"time"
	"unicode/utf8"
)

// MaxMessageBytes is the maximum size of a message, as JSON in UTF-8.
const MaxMessageBytes = 32 * 1024

const maxMessageIdLength = 100

// An encoder writes one message at a time. It keeps its first error and ignores later output, so that the methods of
// the messages read as lists of their fields.
type encoder struct {
	buf []byte
	err error
	// When the call was made.
	calledAt time.Duration
	// The type of the call.
	kind string
	// The keys of the objects that are being written, of all levels, each level sorted.
	keys []string
	// A buffer for the output of encoding/json.
	spill     bytes.Buffer
	marshaler *json.Encoder
	// Unused random bytes. One large read costs little more than a small one.
	random [32 * 16]byte
	unused []byte
}

var encoders = sync.Pool{New: func() any { return newEncoder() }}

func newEncoder() *encoder {
	e := &encoder{buf: make([]byte, 0, 1024)}
	e.marshaler = json.NewEncoder(&e.spill)
	e.marshaler.SetEscapeHTML(false)
	return e
}

// free returns the encoder to the pool. A very large one is left to the garbage collector.
func (e *encoder) free() {
	if cap(e.buf) <= 2*MaxMessageBytes && e.spill.Cap() <= 2*MaxMessageBytes {
		encoders.Put(e)
	}
}

// names are those of the structs, for errors, by the type of the call.
var names = map[string]string{
	"identify": "Identify",
	"track":    "Track",
	"page":     "Page",
	"screen":   "Screen",
	"group":    "Group",
	"alias":    "Alias",
}

// encode writes a call, and returns its first error.
func (e *encoder) encode(call *Call) error {
	e.kind, e.err = call.Type, nil
	switch {
	case call.isMissing:
		return &FieldError{Type: "Client", Field: names[e.kind], Reason: "needs a message, and got nil"}
	case call.Type == "track" && call.Event == "":
		return e.missing("Event", "")
	case call.Type == "group" && call.GroupId == "":
		return e.missing("GroupId", "")
	case call.Type == "alias" && call.UserId == "":
		return e.missing("UserId", "")
	case call.Type == "alias" && call.PreviousId == "":
		return e.missing("PreviousId", "")
	case call.UserId == "" && call.AnonymousId == "":
		return e.missing("UserId", " where there is no AnonymousId")
	}
	e.buf = append(append(append(e.buf[:0], `{"type":"`...), call.Type...), '"')
	e.stamp(call.MessageId, call.Timestamp)
	e.text(`,"userId":`, call.UserId)
	if call.Type != "alias" {
		e.text(`,"anonymousId":`, call.AnonymousId)
	}
	switch call.Type {
	case "identify":
		e.object(`,"traits":`, "Traits", call.Traits)
	case "track":
		e.text(`,"event":`, call.Event)
		e.object(`,"properties":`, "Properties", call.Properties)
	case "page":
		e.text(`,"category":`, call.Category)
		e.text(`,"name":`, call.Name)
		e.object(`,"properties":`, "Traits", call.Properties)
	case "screen":
		e.text(`,"category":`, call.Category)
		e.text(`,"name":`, call.Name)
		e.object(`,"properties":`, "Properties", call.Properties)
	case "group":
		e.text(`,"groupId":`, call.GroupId)
		e.object(`,"traits":`, "Traits", call.Traits)
	case "alias":
		e.text(`,"previousId":`, call.PreviousId)
	}
	e.object(`,"context":`, "Context", call.Context)
	e.object(`,"integrations":`, "Integrations", call.Integrations)
	return e.end()
}

func (e *encoder) missing(field, where string) error {
	return &FieldError{Type: names[e.kind], Field: field, Reason: "is required" + where}
}

// stamp writes the messageId and the timestamp of the message, or generates them. With a sentAt of null the service keeps a
// timestamp that the program has set; it corrects the generated ones by the clock of the program.
func (e *encoder) stamp(messageId, timestamp string) {
	now := time.Now()
	e.calledAt = sinceStart(now)
	e.buf = append(e.buf, `,"messageId":`...)
	switch {
	case messageId == "":
		e.newId()
	case len(messageId) > maxMessageIdLength && utf8.RuneCountInString(messageId) > maxMessageIdLength:
		e.fail(&FieldError{Type: names[e.kind], Field: "MessageId", Reason: "is longer than 100 characters"})
	default:
		e.buf = appendString(e.buf, messageId)
	}
	e.buf = append(e.buf, `,"timestamp":`...)
	switch {
	case timestamp == "":
		e.buf = append(e.buf, '"')
		e.buf = appendTime(e.buf, now)
		e.buf = append(e.buf, '"')
	case !isISO8601(timestamp):
		reason := "is not a date or time in ISO 8601, such as 2014-02-03T04:05:06Z"
		e.fail(&FieldError{Type: names[e.kind], Field: "Timestamp", Reason: reason})
	default:
		e.buf = appendString(e.buf, timestamp)
		e.buf = append(e.buf, `,"sentAt":null`...)
	}
}

// newId writes a random UUID, version 4 (RFC 9562).
func (e *encoder) newId() {
	if len(e.unused) == 0 {
		if _, err := rand.Read(e.random[:]); err != nil {
			e.fail(fmt.Errorf("analytics: no random bytes for a MessageId: %w", err))
			return
		}
		e.unused = e.random[:]
	}
	var id [16]byte
	copy(id[:], e.unused)
	e.unused = e.unused[len(id):]
	id[6] = id[6]&0x0f | 0x40
	id[8] = id[8]&0x3f | 0x80
	e.buf = append(e.buf, '"')
	for i, b := range id {
		if i == 4 || i == 6 || i == 8 || i == 10 {
			e.buf = append(e.buf, '-')
		}
		e.buf = append(e.buf, hexDigits[b>>4], hexDigits[b&0xf])
	}
	e.buf = append(e.buf, '"')
}

// text writes a field, or nothing if it is empty. `key` is the comma, the quoted name and the colon.
func (e *encoder) text(key, value string) {
	if value == "" {
		return
	}
	if len(value) > MaxMessageBytes {
		e.fail(errOverLimit)
		return
	}
	e.buf = append(e.buf, key...)
	e.buf = appendString(e.buf, value)
}

// object writes a field, or nothing if it is empty. `field` is its name in Go, for errors.
func (e *encoder) object(key, field string, value map[string]interface{}) {
	if len(value) == 0 || e.err != nil {
		return
	}
	e.buf = append(e.buf, key...)
	if err := e.appendMap(value, 1); err != nil {
		clear(e.keys)
		e.keys = e.keys[:0]
		if err != errOverLimit {
			err = &FieldError{Type: names[e.kind], Field: field, Reason: "cannot be written as JSON: " + err.Error(), Err: err}
		}
		e.fail(err)
	}
}

// end returns the first error.
func (e *encoder) end() error {
	e.buf = append(e.buf, '}')
	if e.err == nil && len(e.buf) > MaxMessageBytes {
		e.err = errOverLimit
	}
	if e.err == errOverLimit {
		return fmt.Errorf("%w: this %s has more than %d bytes as JSON", ErrTooLarge, names[e.kind], MaxMessageBytes)
	}
	return e.err
}

func (e *encoder) fail(err error) {
	if e.err == nil {
		e.err = err
	}
}
