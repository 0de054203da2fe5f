package analytics

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"
)

const (
	// The longest accepted Retry-After.
	longestRetryAfter = 5 * time.Minute
	// The maximum size of an answer that is read. An answer lists the rejected messages, up to 2,500.
	maxAnswerBytes = 8 << 20
)

// An outcome decides what happens to the messages of an attempt.
type outcome int

const (
	// accepted: the service has the messages, except those it lists as rejected.
	accepted outcome = iota
	// retried: a later attempt may succeed.
	retried
	// refused: the service refuses every message of this client, or is not the service.
	refused
	// divided: the service refuses the request, maybe for its size or for one of its messages.
	divided
)

// A result is the result of an attempt.
type result struct {
	outcome outcome
	// nil if the messages were accepted.
	err error
	// Whether there was no answer in time: the connection may be too slow for the size of the request.
	timedOut bool
	// Whether the connection ended without an answer. Where this is repeated, the request may be too large.
	unexplained bool
	// Whether it is a 5xx without Retry-After: the service may fail for one of the messages.
	serverError bool
	// 0 without a response.
	status     int
	retryAfter time.Duration
	took       time.Duration
	rejected   []rejection
}

// of is the answer for one message of the request alone.
func (r result) of(index int) result {
	all := r.rejected
	r.rejected = nil
	for _, one := range all {
		if one.index == index {
			one.index = 0
			r.rejected = []rejection{one}
		}
	}
	return r
}

// A rejection identifies a rejected message by its index in the request.
type rejection struct {
	index         int
	code, message string
}

func withoutAnswer(err error) result {
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		return result{outcome: retried, err: err, timedOut: true}
	}
	var operation *net.OpError
	connected := !errors.As(err, &operation) || operation.Op != "dial"
	ended := operation != nil || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
	return result{outcome: retried, err: err, unexplained: connected && ended}
}

// readResponse reads a response of at most maxBytes to a request of this many messages. The body is read to its end, so that the connection
// can be reused.
func readResponse(response *http.Response, messages, maxBytes int) result {
	defer response.Body.Close()
	if response.StatusCode == http.StatusSwitchingProtocols {
		// Its body is the connection, and does not end.
		return readAnswer(response.StatusCode, response.Header, nil, messages)
	}
	body, err := decoded(response)
	var answer []byte
	if err == nil {
		answer, err = io.ReadAll(io.LimitReader(body, int64(maxBytes)+1))
	}
	tooLong := len(answer) > maxBytes
	read := readAnswer(response.StatusCode, response.Header, answer, messages)
	if read.outcome != accepted {
		return read
	}
	switch {
	case err != nil:
		// The rest may have listed rejected messages. The service drops repetitions.
		read = withoutAnswer(fmt.Errorf("the answer %d was cut off or cannot be read: %w", response.StatusCode, err))
		read.status = response.StatusCode
	case isPage(answer):
		// A sign-in page or a proxy answers for the service.
		read.outcome, read.err = retried, fmt.Errorf("the answer %d is not one of the service", response.StatusCode)
	case tooLong && messages > 1:
		read.outcome, read.err = divided, fmt.Errorf("the answer has more than %d bytes", maxBytes)
	}
	return read
}

// decoded is the body of a response. net/http has decompressed it, unless the transport of the program does not.
func decoded(response *http.Response) (io.Reader, error) {
	switch encoding := response.Header.Get("Content-Encoding"); encoding {
	case "", "identity":
		return response.Body, nil
	case "gzip":
		return gzip.NewReader(response.Body)
	default:
		return nil, fmt.Errorf("its Content-Encoding is %s", encoding)
	}
}

// isPage reports whether the body is HTML or XML. Every other body of a success is one: test servers often answer with "ok".
func isPage(body []byte) bool {
	return bytes.HasPrefix(bytes.TrimSpace(body), []byte("<"))
}

// readAnswer classifies a complete response.
func readAnswer(status int, header http.Header, body []byte, messages int) result {
	var parsed struct {
		Message  string     `json:"message"`
		Rejected rejections `json:"rejected"`
	}
	parsed.Rejected.messages = messages
	// A response of another server, such as a proxy, need not be JSON.
	_ = json.Unmarshal(body, &parsed)
	read := result{outcome: classify(status), status: status, rejected: parsed.Rejected.kept}
	if read.outcome != accepted {
		read.err = &answerError{status: status, message: parsed.Message}
		read.timedOut = status == http.StatusRequestTimeout
		read.retryAfter = readRetryAfter(header.Get("Retry-After"), time.Now())
		read.serverError = status >= 500 && header.Get("Retry-After") == ""
	}
	return read
}

func classify(status int) outcome {
	switch {
	case status >= 200 && status < 300:
		return accepted
	case status == http.StatusRequestTimeout, status == http.StatusTooManyRequests, status >= 500:
		return retried
	case status < 400, status == http.StatusUnauthorized, status == http.StatusForbidden, status == http.StatusNotFound:
		return refused
	}
	return divided
}

// rejections reads a list of any length into at most one rejection for each message of the request, the first. Elements
// without the index of a message are ignored.
type rejections struct {
	messages int
	kept     []rejection
}

// UnmarshalJSON reads one element at a time, because the list of a hostile server may have millions.
func (l *rejections) UnmarshalJSON(list []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(list))
	if begin, err := decoder.Token(); err != nil || begin != json.Delim('[') {
		return nil
	}
	seen := make([]bool, l.messages)
	for decoder.More() {
		var element struct {
			Index         any
			Code, Message string
		}
		var mismatch *json.UnmarshalTypeError
		if err := decoder.Decode(&element); err != nil && !errors.As(err, &mismatch) {
			return nil
		}
		number, ok := element.Index.(float64)
		if index := int(number); ok && float64(index) == number && index >= 0 && index < l.messages && !seen[index] {
			seen[index] = true
			l.kept = append(l.kept, rejection{index, element.Code, element.Message})
		}
	}
	return nil
}

// readRetryAfter reads seconds or a date (RFC 9110, section 10.2.3). Any other value counts as no pause.
func readRetryAfter(text string, now time.Time) time.Duration {
	pause := time.Duration(0)
	if seconds, err := strconv.Atoi(text); err == nil {
		pause = time.Duration(min(seconds, int(longestRetryAfter/time.Second))) * time.Second
	} else if date, err := http.ParseTime(text); err == nil {
		pause = date.Sub(now)
	}
	return max(0, min(pause, longestRetryAfter))
}
