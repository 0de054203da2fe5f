package analytics

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"net/http/httptest"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// The vectors are shared with the library in TypeScript; ../analytics-vectors/README.md describes them. testdata has a
// copy, so that the module can be tested alone.

type vectors struct {
	Envelope     map[string]any
	MaxBodyBytes int
	Scenarios    []scenario
}

type scenario struct {
	Name string
	// The libraries that the scenario is for; none for all.
	Only    []string
	Options struct {
		WriteKey       *string
		EndpointSuffix string
		FlushAt        *int
		Size           *int
		FlushAfterMs   *int
		IntervalMs     *int
		Gzip           bool
		Context        map[string]any
		QueueSize      *int
		MaxAttempts    int
		MaxAgeMs       *int
		TimeoutMs      *int
		DrainTimeoutMs *int
	}
	Server []answer
	Poison *poison
	Steps  []step
	Expect struct {
		Taken       []string
		TakenAside  []string
		Requests    []expectedRequest
		Failures    []expectedFailure
		AnyGrouping bool
	}
}

type step struct {
	Call          string
	Message       any
	Times         *int
	Error         *struct{ Kind, Field string }
	Flush         bool
	AwaitRequests int
	AwaitTaken    int
	Release       bool
	Close         bool
	Incomplete    bool
	Unsent        *uint64
}

type expectedRequest struct {
	Messages      []any
	Repeat        *int
	Path          string
	Authorization string
	Encoding      string
	Context       map[string]any
	MinWaitMs     int
	SameMessages  bool
}

type expectedFailure struct {
	Reason     Reason
	Status     int
	MessageIds []string
}

func readVectors(t *testing.T, file string, into any) {
	t.Helper()
	text, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	decoder := json.NewDecoder(strings.NewReader(string(text)))
	// Unknown keys would not be checked, so they are refused.
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		t.Fatal(err)
	}
}

func TestVectors(t *testing.T) {
	var all, delivery, aside vectors
	readVectors(t, "vectors.json", &all)
	readVectors(t, "delivery.json", &delivery)
	readVectors(t, "aside.json", &aside)
	for _, s := range append(append(all.Scenarios, delivery.Scenarios...), aside.Scenarios...) {
		s := s
		if len(s.Only) > 0 && !slices.Contains(s.Only, "go") {
			continue
		}
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			runScenario(t, all, s)
		})
	}
}

func TestTables(t *testing.T) {
	var tables struct {
		Timestamps struct{ Valid, Invalid []string }
		Debug      []struct {
			Value   string
			Enabled bool
		}
	}
	readVectors(t, "tables.json", &tables)
	for _, text := range tables.Timestamps.Valid {
		if !isISO8601(text) {
			t.Errorf("%q is refused", text)
		}
	}
	for _, text := range tables.Timestamps.Invalid {
		if isISO8601(text) {
			t.Errorf("%q is accepted", text)
		}
	}
	for _, debug := range tables.Debug {
		t.Setenv("DEBUG", debug.Value)
		if client := New("wk_test"); client.Verbose != debug.Enabled {
			t.Errorf("DEBUG=%s: %v", debug.Value, client.Verbose)
		}
	}
}

func runScenario(t *testing.T, all vectors, s scenario) {
	recorder := newRecorder(s.Server...)
	recorder.poison = s.Poison
	server := httptest.NewServer(recorder)
	defer server.Close()
	defer recorder.releaseAll()

	client, failures := scenarioClient(s, server.URL)
	flushed := func(err error) {
		if err != nil && !errors.Is(err, ErrNotSent) {
			t.Fatalf("a flush that was not expected to fail: %v", err)
		}
	}
	for i, step := range s.Steps {
		switch {
		case step.Call != "":
			for n := 0; n < orOne(step.Times); n++ {
				checkCallError(t, i, step, callMethod(t, client, step.Call, step.Message))
			}
		case step.Flush:
			flushed(client.Flush())
		case step.AwaitRequests > 0:
			recorder.await(t, step.AwaitRequests)
		case step.AwaitTaken > 0:
			recorder.awaitTaken(t, step.AwaitTaken)
		case step.Release:
			recorder.releaseAll()
		case step.Close && step.Incomplete:
			if err := client.Close(); !errors.Is(err, ErrNotDrained) {
				t.Fatalf("step %d: Close returned %v", i, err)
			}
		case step.Close && step.Unsent != nil:
			if err := client.Close(); unsentIn(err) != *step.Unsent {
				t.Errorf("step %d: Close returned %v", i, err)
			}
		case step.Close:
			flushed(client.Close())
		}
	}
	if err := client.Close(); err != nil && !errors.Is(err, ErrNotSent) && !errors.Is(err, ErrNotDrained) {
		t.Fatal(err)
	}

	received := recorder.all()
	for _, r := range received {
		checkEnvelope(t, all, s, r)
	}
	if len(s.Expect.Taken) > 0 {
		n := min(len(s.Expect.Taken), len(recorder.taken))
		inOrder, aside := recorder.taken[:n], recorder.taken[n:]
		slices.Sort(aside)
		if !slices.Equal(inOrder, s.Expect.Taken) || !slices.Equal(aside, s.Expect.TakenAside) {
			t.Errorf("taken %v and aside %v, not %v and %v", inOrder, aside, s.Expect.Taken, s.Expect.TakenAside)
		}
	} else if s.Expect.AnyGrouping {
		checkMessages(t, s.Expect.Requests[0].all(), withoutRepetitions(received))
	} else {
		checkRequests(t, s, received)
	}
	checkFailures(t, s.Expect.Failures, *failures)
}

// unsentIn is the number in an error of Close.
func unsentIn(err error) uint64 {
	var unsent *UnsentError
	if !errors.As(err, &unsent) {
		return 0
	}
	return unsent.Reported + unsent.Refused
}

func scenarioClient(s scenario, url string) (*Client, *[]*SendError) {
	o := s.Options
	writeKey := "wk_test"
	if o.WriteKey != nil {
		writeKey = *o.WriteKey
	}
	client := New(writeKey)
	client.Endpoint = url + o.EndpointSuffix
	client.FlushAfter = time.Minute
	client.DrainTimeout = limit
	set := func(field *int, option *int) {
		if option != nil {
			*field = *option
		}
	}
	set(&client.FlushAt, o.FlushAt)
	set(&client.Size, o.Size)
	set(&client.QueueSize, o.QueueSize)
	setMs := func(field *time.Duration, option *int) {
		if option != nil {
			*field = time.Duration(*option) * time.Millisecond
		}
	}
	setMs(&client.FlushAfter, o.FlushAfterMs)
	setMs(&client.Interval, o.IntervalMs)
	setMs(&client.DrainTimeout, o.DrainTimeoutMs)
	setMs(&client.MaxAge, o.MaxAgeMs)
	setMs(&client.Client.Timeout, o.TimeoutMs)
	client.WhenFull = Refuse
	client.Gzip = o.Gzip
	client.Context = o.Context
	client.MaxAttempts = o.MaxAttempts
	client.Logger = log.New(io.Discard, "", 0)
	failures := &[]*SendError{}
	// Read only after Close, which waits for the goroutine that calls OnError.
	client.OnError = func(err *SendError) { *failures = append(*failures, err) }
	return client, failures
}

// callMethod fills the message of the method by the names on the wire, which differ from the fields only in case.
func callMethod(t *testing.T, client *Client, name string, fields any) error {
	t.Helper()
	method := reflect.ValueOf(client).MethodByName(strings.ToUpper(name[:1]) + name[1:])
	message := reflect.New(method.Type().In(0).Elem())
	plain := maps.Clone(expand(fields).(map[string]any))
	if properties, ok := plain["properties"]; ok && name == "page" {
		delete(plain, "properties")
		plain["traits"] = properties
	}
	text, err := json.Marshal(plain)
	if err == nil {
		err = json.Unmarshal(text, message.Interface())
	}
	if err != nil {
		t.Fatal(err)
	}
	result := method.Call([]reflect.Value{message})
	failure, _ := result[0].Interface().(error)
	return failure
}

func checkCallError(t *testing.T, i int, step step, err error) {
	t.Helper()
	if step.Error == nil {
		if err != nil {
			t.Fatalf("step %d: %s returned %v", i, step.Call, err)
		}
		return
	}
	var field *FieldError
	ok := false
	switch step.Error.Kind {
	case "invalid":
		ok = errors.As(err, &field) && strings.EqualFold(field.Field, step.Error.Field) && strings.Contains(err.Error(), field.Field)
	case "too-large":
		ok = errors.Is(err, ErrTooLarge)
	case "queue-full":
		ok = errors.Is(err, ErrQueueFull)
	case "closed":
		ok = errors.Is(err, ErrClosed)
	}
	if !ok {
		t.Errorf("step %d: %s returned %v, not %+v", i, step.Call, err, *step.Error)
	}
}

func checkEnvelope(t *testing.T, all vectors, s scenario, r received) {
	t.Helper()
	if r.method != "POST" || r.header.Get("Content-Type") != "application/json" {
		t.Errorf("got a %s of %s", r.method, r.header.Get("Content-Type"))
	}
	if len(r.body) > all.MaxBodyBytes {
		t.Errorf("a body has %d bytes", len(r.body))
	}
	envelope := maps.Clone(r.parsed)
	delete(envelope, "batch")
	expected := expand(all.Envelope).(map[string]any)
	context := maps.Clone(expected["context"].(map[string]any))
	expected["context"] = context
	maps.Copy(context, s.Options.Context)
	if problem := compare(expected, envelope); problem != "" {
		t.Errorf("beside the batch: %s", problem)
	}
}

func (r expectedRequest) all() []any {
	messages := make([]any, 0, len(r.Messages))
	for _, message := range r.Messages {
		for n := 0; n < orOne(r.Repeat); n++ {
			messages = append(messages, message)
		}
	}
	return messages
}

func checkRequests(t *testing.T, s scenario, got []received) {
	t.Helper()
	if len(got) != len(s.Expect.Requests) {
		t.Fatalf("%d requests, not %d", len(got), len(s.Expect.Requests))
	}
	for i, expected := range s.Expect.Requests {
		r := got[i]
		checkMessages(t, expected.all(), r.batch())
		path, authorization := expected.Path, expected.Authorization
		if path == "" {
			path = "/v1/batch"
		}
		if authorization == "" {
			authorization = "Basic d2tfdGVzdDo="
		}
		if r.path != path || r.header.Get("Authorization") != authorization {
			t.Errorf("request %d: %s with %s", i, r.path, r.header.Get("Authorization"))
		}
		if encoding := r.header.Get("Content-Encoding"); encoding != expected.Encoding {
			t.Errorf("request %d: its encoding is %q", i, encoding)
		}
		if expected.MinWaitMs > 0 {
			if wait := r.arrived.Sub(got[i-1].answered); wait < time.Duration(expected.MinWaitMs)*time.Millisecond {
				t.Errorf("request %d came %v after the answer before", i, wait)
			}
		}
		if expected.SameMessages {
			if !reflect.DeepEqual(r.batch(), got[i-1].batch()) {
				t.Errorf("request %d has other messages", i)
			}
			// The shortest pause between attempts is longer than the resolution of sentAt.
			if r.parsed["sentAt"] == got[i-1].parsed["sentAt"] {
				t.Errorf("request %d still says %v", i, r.parsed["sentAt"])
			}
		}
	}
}

func checkMessages(t *testing.T, expected, got []any) {
	t.Helper()
	if len(expected) != len(got) {
		t.Fatalf("%d messages, not %d", len(got), len(expected))
	}
	for i := range expected {
		if problem := compare(expand(expected[i]), got[i]); problem != "" {
			t.Errorf("message %d: %s", i, problem)
		}
	}
}

func withoutRepetitions(requests []received) []any {
	var messages []any
	seen := map[any]bool{}
	for _, r := range requests {
		for _, message := range r.batch() {
			if id := message.(map[string]any)["messageId"]; !seen[id] {
				seen[id] = true
				messages = append(messages, message)
			}
		}
	}
	return messages
}

// checkFailures merges reports with the same reason and status.
func checkFailures(t *testing.T, expected []expectedFailure, got []*SendError) {
	t.Helper()
	merged := []expectedFailure{}
	for _, failure := range got {
		next := expectedFailure{Reason: failure.Reason, Status: failure.Status}
		for _, raw := range failure.Messages {
			var message struct{ MessageId string }
			if err := json.Unmarshal(raw, &message); err != nil {
				t.Fatal(err)
			}
			next.MessageIds = append(next.MessageIds, message.MessageId)
		}
		if n := len(merged) - 1; n >= 0 && merged[n].Reason == next.Reason && merged[n].Status == next.Status {
			merged[n].MessageIds = append(merged[n].MessageIds, next.MessageIds...)
			continue
		}
		merged = append(merged, next)
	}
	if len(merged)+len(expected) > 0 && !reflect.DeepEqual(merged, expected) {
		t.Errorf("reported %+v, not %+v", merged, expected)
	}
}

// expand replaces the placeholders for long texts.
func expand(value any) any {
	switch v := value.(type) {
	case map[string]any:
		if repeat, ok := v["$repeat"].([]any); ok {
			return strings.Repeat(repeat[0].(string), int(repeat[1].(float64)))
		}
		expanded := make(map[string]any, len(v))
		for key, field := range v {
			expanded[key] = expand(field)
		}
		return expanded
	case []any:
		expanded := make([]any, len(v))
		for i, element := range v {
			expanded[i] = expand(element)
		}
		return expanded
	}
	return value
}

// compare describes the first difference of two parsed values, or returns "".
func compare(expected, got any) string {
	switch e := expected.(type) {
	case map[string]any:
		if pattern, ok := e["$match"].(string); ok {
			if text, isText := got.(string); isText && regexp.MustCompile(pattern).MatchString(text) {
				return ""
			}
			return fmt.Sprintf("%v does not match %s", got, pattern)
		}
		g, ok := got.(map[string]any)
		if !ok {
			return fmt.Sprintf("%v is no object", got)
		}
		for key := range e {
			if problem := compare(e[key], g[key]); problem != "" {
				return key + ": " + problem
			}
		}
		for key := range g {
			if _, ok := e[key]; !ok {
				return key + " is not expected"
			}
		}
		return ""
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(e) {
			return fmt.Sprintf("%v is not %v", got, expected)
		}
		for i := range e {
			if problem := compare(e[i], g[i]); problem != "" {
				return fmt.Sprintf("%d: %s", i, problem)
			}
		}
		return ""
	}
	if !reflect.DeepEqual(expected, got) {
		return fmt.Sprintf("%v is not %v", got, expected)
	}
	return ""
}

func orOne(n *int) int {
	if n == nil {
		return 1
	}
	return *n
}
