package analytics

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestMiddlewareChangesAndDropsCallsInOrder(t *testing.T) {
	recorder := newRecorder()
	client := newTestClient(t, recorder)
	client.Middleware = []Middleware{
		func(call *Call) bool { return call.Event != "Health Checked" },
		func(call *Call) bool {
			if call.Properties == nil {
				call.Properties = map[string]interface{}{}
			}
			call.Properties["order"] = "first"
			call.Type = "has no effect"
			return true
		},
		func(call *Call) bool {
			call.Properties["order"] = call.Properties["order"].(string) + ", second"
			if card, ok := call.Properties["card"].(map[string]interface{}); ok {
				delete(card, "number")
			}
			return true
		},
	}
	card := map[string]interface{}{"number": "4111", "brand": "visa"}
	properties := map[string]interface{}{"card": card}
	before := fmt.Sprint(properties)
	for _, event := range []string{"Order Completed", "Health Checked"} {
		if err := client.Track(&Track{UserId: "ada", Event: event, Properties: properties}); err != nil {
			t.Fatal(err)
		}
	}
	if err := client.Close(); err != nil {
		t.Fatal(err)
	}
	if after := fmt.Sprint(properties); after != before {
		t.Errorf("the caller's properties became %s", after)
	}
	sent := withoutRepetitions(recorder.all())
	if len(sent) != 1 {
		t.Fatalf("%d arrived", len(sent))
	}
	got := sent[0].(map[string]any)
	expected := map[string]any{"order": "first, second", "card": map[string]any{"brand": "visa"}}
	if got["type"] != "track" || !reflect.DeepEqual(got["properties"], expected) {
		t.Errorf("sent %v", got)
	}
	if stats := client.Stats(); stats.Dropped != 1 || stats.Accepted != 1 || stats.Refused != 0 {
		t.Errorf("%+v", stats)
	}
}

func TestEachKindOfCallPassesMiddlewareUnchanged(t *testing.T) {
	fields := map[string]interface{}{"a": []interface{}{1, map[string]interface{}{"b": nil}}}
	old := Message{MessageId: "m-1", Timestamp: "2014-02-03"}
	calls := func(c *Client) error {
		return errors.Join(
			c.Identify(&Identify{UserId: "u", AnonymousId: "a", Traits: fields, Context: fields, Integrations: fields, Message: old}),
			c.Track(&Track{UserId: "u", AnonymousId: "a", Event: "E", Properties: fields, Context: fields, Integrations: fields, Message: old}),
			c.Page(&Page{UserId: "u", AnonymousId: "a", Category: "C", Name: "N", Traits: fields, Context: fields, Integrations: fields, Message: old}),
			c.Screen(&Screen{UserId: "u", AnonymousId: "a", Category: "C", Name: "N", Properties: fields, Context: fields, Integrations: fields, Message: old}),
			c.Group(&Group{UserId: "u", AnonymousId: "a", GroupId: "g", Traits: fields, Context: fields, Integrations: fields, Message: old}),
			c.Alias(&Alias{UserId: "u", PreviousId: "p", Context: fields, Integrations: fields, Timestamp: "2015-02-03", MessageId: "m-2"}),
			c.Close(),
		)
	}
	send := func(middleware ...Middleware) []any {
		recorder := newRecorder()
		client := newTestClient(t, recorder)
		client.Middleware = middleware
		if err := calls(client); err != nil {
			t.Fatal(err)
		}
		return recorder.all()[0].batch()
	}
	with, without := send(func(*Call) bool { return true }), send()
	if len(with) != 6 || !reflect.DeepEqual(with, without) {
		t.Errorf("%v\nbecame %v", without, with)
	}
}

func TestAMiddlewareThatPanicsOrInvalidatesRefusesTheCall(t *testing.T) {
	client := newTestClient(t, newRecorder())
	client.Middleware = []Middleware{func(call *Call) bool {
		if call.Event == "panic" {
			panic("no")
		}
		call.Event = ""
		return true
	}}
	if err := client.Track(&Track{UserId: "ada", Event: "panic"}); err == nil || err.Error() != "analytics: a middleware panicked: no" {
		t.Errorf("returned %v", err)
	}
	var field *FieldError
	if err := client.Track(&Track{UserId: "ada", Event: "E"}); !errors.As(err, &field) || field.Field != "Event" {
		t.Errorf("returned %v", err)
	}
	if err := client.Track(nil); !errors.As(err, &field) {
		t.Errorf("returned %v", err)
	}
	cyclic := map[string]interface{}{}
	cyclic["self"] = cyclic
	if err := client.Identify(&Identify{UserId: "ada", Traits: cyclic}); !errors.As(err, &field) || field.Field != "Traits" {
		t.Errorf("a cycle returned %v", err)
	}
	// Its copy would double with each level.
	cyclic["again"] = cyclic
	if err := client.Identify(&Identify{UserId: "ada", Traits: cyclic}); err == nil {
		t.Error("a double cycle was accepted")
	}
	if err := client.Close(); unsentIn(err) != 5 {
		t.Errorf("Close returned %v", err)
	}
}

func TestSlogReceivesTheLinesWithTheirFields(t *testing.T) {
	var lines bytes.Buffer
	client := newTestClient(t, newRecorder(answer{Status: 503}, answer{Status: 401}))
	client.Slog = slog.New(slog.NewJSONHandler(&lines, &slog.HandlerOptions{Level: slog.LevelDebug}))
	if err := client.Track(&Track{UserId: "ada", Event: "E"}); err != nil {
		t.Fatal(err)
	}
	_ = client.Close()
	type line struct {
		Level, Msg, Reason string
		Status, Messages   int
	}
	var got []line
	decoder := json.NewDecoder(&lines)
	for decoder.More() {
		var one line
		if err := decoder.Decode(&one); err != nil {
			t.Fatal(err)
		}
		got = append(got, one)
	}
	expected := []line{
		{Level: "DEBUG", Msg: "attempt failed", Messages: 1},
		{Level: "ERROR", Msg: "messages not sent", Reason: "refused", Status: 401, Messages: 1},
		{Level: "DEBUG", Msg: "closed"},
	}
	if !reflect.DeepEqual(got, expected) {
		t.Errorf("logged %+v", got)
	}
}

func TestNoopValidatesAndSendsNothing(t *testing.T) {
	var tracker Tracker = Noop{}
	if err := tracker.Track(&Track{UserId: "ada", Event: "E"}); err != nil {
		t.Error(err)
	}
	var field *FieldError
	if err := tracker.Group(&Group{UserId: "ada"}); !errors.As(err, &field) || field.Field != "GroupId" {
		t.Errorf("returned %v", err)
	}
	if err := errors.Join(tracker.Flush(), tracker.Close()); err != nil {
		t.Error(err)
	}
}

func TestBuildersWriteTheNamesThatDestinationsKnow(t *testing.T) {
	properties := NewProperties().SetOrderId("o-1").SetTotal(25.5).SetCurrency("USD").Set("gift", true).
		SetProducts(NewProperties().SetSKU("45790-32").SetName("Monopoly").SetPrice(19).SetQuantity(1))
	at := time.Date(1815, 12, 10, 1, 2, 3, 0, time.FixedZone("", 3600))
	traits := NewTraits().SetEmail("ada@example.com").SetBirthday(at).SetCreatedAt(at).SetAddress(NewTraits().Set("city", "London"))
	e := newEncoder()
	if err := e.encode(ref((&Track{UserId: "ada", Event: "E", Properties: properties}).call())); err != nil {
		t.Fatal(err)
	}
	expected := `"properties":{"currency":"USD","gift":true,"orderId":"o-1","products":[{"name":"Monopoly","price":19,"quantity":1,"sku":"45790-32"}],"total":25.5}`
	if !strings.Contains(string(e.buf), expected) {
		t.Errorf("wrote %s", e.buf)
	}
	if err := e.encode(ref((&Identify{UserId: "ada", Traits: traits}).call())); err != nil {
		t.Fatal(err)
	}
	expected = `"traits":{"address":{"city":"London"},"birthday":"1815-12-10","createdAt":"1815-12-10T00:02:03Z","email":"ada@example.com"}`
	if !strings.Contains(string(e.buf), expected) {
		t.Errorf("wrote %s", e.buf)
	}
}

// A call allocates nothing, while the queue has memory for it, for the types that README.md names.
func TestACallAllocatesNothing(t *testing.T) {
	client := New("wk_test")
	client.FlushAfter, client.FlushAt, client.DrainTimeout = time.Hour, maxBatchMessages, time.Millisecond
	client.OnError = func(*SendError) {}
	message := &Track{UserId: "ada", Event: "Order Completed", Timestamp: "2014-02-03T04:05:06Z", Properties: order()}
	track := func() {
		if err := client.Track(message); err != nil {
			t.Fatal(err)
		}
	}
	track()
	// The memory of a batch is allocated once, and reused.
	client.queue.mu.Lock()
	b := client.queue.waiting[0]
	b.body, b.ends = slices.Grow(b.body, maxBatchBytes), slices.Grow(b.ends, maxBatchMessages)
	b.calledAt = slices.Grow(b.calledAt, maxBatchMessages)
	client.queue.mu.Unlock()
	if allocations := testing.AllocsPerRun(200, track); allocations != 0 && !raceEnabled {
		t.Errorf("%v allocations", allocations)
	}
	if err := client.Close(); unsentIn(err) != client.Stats().Accepted {
		t.Errorf("Close returned %v", err)
	}
}
