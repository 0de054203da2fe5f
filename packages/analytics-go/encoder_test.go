package analytics

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// standard is the output of encoding/json, the reference for the encoder.
func standard(value any) (string, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	return strings.TrimSuffix(text.String(), "\n"), err
}

func ours(value any) (string, error) {
	e := newEncoder()
	err := e.appendValue(value, 1)
	return string(e.buf), err
}

type named string

type structured struct {
	A int `json:"a"`
	B []byte
	C *structured `json:",omitempty"`
}

func TestValuesAreWrittenAsEncodingJsonWritesThem(t *testing.T) {
	var nilMap map[string]interface{}
	var nilSlice []interface{}
	var nilTexts []string
	var deep any = "bottom"
	for n := 0; n < 300; n++ {
		if n%2 == 0 {
			deep = map[string]interface{}{"in": deep}
		} else {
			deep = []interface{}{deep}
		}
	}
	for _, value := range []any{
		nil, true, false, "", "plain", "<b>&</b> \"\\/\" \x00\x1f\x7f\n\r\t", "Zoë 日本 🎉", "a\u2028b\u2029c", "\xff\xfe half \xc3",
		0, -1, math.MaxInt64, math.MinInt64, int8(-8), int16(-16), int32(-32), int64(-64), uint(1), uint8(8), uint16(16), uint32(32),
		uint64(math.MaxUint64), 0.0, math.Copysign(0, -1), 0.1, -1.5, 1e20, 1e21, 1e-6, 9.99e-7, 1e-9, 1e-10, 1e100, math.MaxFloat64,
		math.SmallestNonzeroFloat64, float32(0.1), float32(1e-7), float32(1e21), float32(math.MaxFloat32), float32(16777216),
		nilMap, nilSlice, nilTexts, map[string]interface{}{}, []interface{}{}, []string{}, []string{"a", "\"b\""},
		map[string]interface{}{"b": 1, "a": map[string]interface{}{"z": nil, "y": []interface{}{1, "2", 3.5}}, "": "empty", "c": true},
		map[string]string{"b": "2", "a": "1"}, map[int]bool{2: true, 1: false}, named("n"), []byte("bytes"), [2]int{1, 2},
		structured{A: 1, B: []byte{1}, C: &structured{}}, &structured{}, (*structured)(nil), json.Number("12.50"),
		json.RawMessage(`{ "raw" : [ 1 , "<>" ] }`), time.Date(2014, 2, 3, 4, 5, 6, 789, time.UTC), time.Second, deep,
		map[string]interface{}{"mixed": []interface{}{structured{}, map[string]interface{}{"k": named("v")}, nil}},
	} {
		expected, err := standard(value)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := ours(value); err != nil || got != expected {
			t.Errorf("%#v is written %s, not %s (%v)", value, got, expected, err)
		}
	}
}

func TestValuesThatEncodingJsonRefusesAreRefusedWithItsError(t *testing.T) {
	cycle := map[string]interface{}{}
	cycle["self"] = []interface{}{cycle}
	for _, value := range []any{
		math.NaN(), math.Inf(1), float32(math.Inf(-1)), func() {}, make(chan int), map[bool]int{true: 1}, cycle,
		[]interface{}{1, map[string]interface{}{"f": func() {}}},
	} {
		_, expected := standard(value)
		_, err := ours(value)
		if reflect.TypeOf(err) != reflect.TypeOf(expected) {
			t.Errorf("%T: %v, not %v", value, err, expected)
		}
	}
}

type panickingValue struct{}

func (panickingValue) MarshalJSON() ([]byte, error) { panic("no") }

func TestAValueThatPanicsIsAnErrorOfItsField(t *testing.T) {
	value := map[string]interface{}{"v": panickingValue{}}
	client := newTestClient(t, newRecorder())
	var field *FieldError
	err := client.Track(&Track{UserId: "ada", Event: "E", Properties: value})
	if !errors.As(err, &field) || field.Field != "Properties" || !strings.HasSuffix(err.Error(), "it panicked: no") {
		t.Errorf("returned %v", err)
	}
	if err := client.Close(); unsentIn(err) != 1 {
		t.Errorf("Close returned %v", err)
	}
	client = New("wk_test")
	client.Context = value
	if err := client.Close(); !errors.As(err, &field) || field.Field != "Context" {
		t.Errorf("returned %v", err)
	}
}

func TestAnEncoderIsCleanAfterAnError(t *testing.T) {
	e := newEncoder()
	bad := &Track{UserId: "ada", Event: "E", Properties: map[string]interface{}{"a": map[string]interface{}{"b": func() {}, "c": 1}}}
	var field *FieldError
	if err := e.encode(ref(bad.call())); !errors.As(err, &field) || field.Field != "Properties" {
		t.Fatal(err)
	}
	good := &Track{UserId: "ada", Event: "E", MessageId: "m", Timestamp: "2014-02-03", Properties: map[string]interface{}{"z": 1, "y": 2}}
	if err := e.encode(ref(good.call())); err != nil {
		t.Fatal(err)
	}
	expected := `{"type":"track","messageId":"m","timestamp":"2014-02-03","sentAt":null,"userId":"ada","event":"E","properties":{"y":2,"z":1}}`
	if string(e.buf) != expected {
		t.Errorf("wrote %s", e.buf)
	}
	for _, key := range e.keys[:cap(e.keys)] {
		if key != "" {
			t.Errorf("still holds the key %q", key)
		}
	}
}

func TestAHugeMessageIsRefusedBeforeItIsWritten(t *testing.T) {
	text := strings.Repeat("x", 1<<24)
	many := make([]interface{}, 1<<20)
	texts := make([]string, 1<<20)
	for _, value := range []any{text, many, texts, []string{text}, map[string]interface{}{text: 1}, []interface{}{[]interface{}{text}}} {
		e := newEncoder()
		message := &Identify{UserId: "ada", Traits: map[string]interface{}{"a": value, "b": func() {}}}
		if err := e.encode(ref(message.call())); !errors.Is(err, ErrTooLarge) {
			t.Errorf("%T: %v", value, err)
		}
		if cap(e.buf) > 4*MaxMessageBytes {
			t.Errorf("%T took %d bytes", value, cap(e.buf))
		}
	}
	e := newEncoder()
	if err := e.encode(ref((&Track{UserId: text, Event: "E"}).call())); !errors.Is(err, ErrTooLarge) {
		t.Error(err)
	}
}

func TestNewIdsAreRandomUUIDs(t *testing.T) {
	e := newEncoder()
	seen := map[string]bool{}
	pattern := regexp.MustCompile(`^"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"$`)
	for n := 0; n < 1000; n++ {
		e.buf = e.buf[:0]
		e.newId()
		if id := string(e.buf); seen[id] || !pattern.MatchString(id) {
			t.Fatalf("%s after %d others", id, n)
		}
		seen[string(e.buf)] = true
	}
}

func TestTimesAreWrittenInUTCWithMilliseconds(t *testing.T) {
	zone := time.FixedZone("", -5*3600)
	for expected, at := range map[string]time.Time{
		"2014-02-03T04:05:06.007Z": time.Date(2014, 2, 3, 4, 5, 6, 7_999_999, time.UTC),
		"2024-03-01T04:59:59.999Z": time.Date(2024, 2, 29, 23, 59, 59, 999_000_000, zone),
		"0099-01-01T00:00:00.000Z": time.Date(99, 1, 1, 0, 0, 0, 0, time.UTC),
	} {
		if got := string(appendTime(nil, at)); got != expected {
			t.Errorf("%s, not %s", got, expected)
		}
	}
}

func TestISO8601(t *testing.T) {
	for text, expected := range map[string]bool{
		"2014-02-03": true, "2014-02-03T04": true, "2014-02-03T04:05": true, "2014-02-03 04:05:06": true, "2014-02-03t04:05:06z": true,
		"2014-02-03T04:05:06.1Z": true, "2014-02-03T04:05:06,123456789+01:00": true, "2014-02-03T04:05:06-0130": true,
		"2014-02-03T04:05:06+01": true, "2014-02-03T04Z": true, "2024-02-29": true, "2016-12-31T23:59:60Z": true, "2014-02-03T24:00:00Z": true,
		"2014-02-29": false, "2014-00-03": false, "2014-02-00": false, "2014-02": false, "14-02-03": false, "2014-02-03T": false,
		"2014-02-03T04:": false, "2014-02-03T04:60": false, "2014-02-03T04:05:61": false, "2014-02-03T24:00:01Z": false,
		"2014-02-03T04:05:06.Z": false, "2014-02-03T04:05:06Zz": false, "2014-02-03T04:05:06+": false, "2014-02-03T04:05:06+24:00": false,
		"2014-02-03T04:05:06+01:60": false, "2014-02-03T04:05:06+01:": false, "2014-02-03Z": false, "": false, "now": false,
	} {
		if isISO8601(text) != expected {
			t.Errorf("%q: %v", text, !expected)
		}
	}
}

// For any message, the output is JSON that parses to the same value as the output of encoding/json.
func FuzzMessage(f *testing.F) {
	f.Add("ada", "Order Completed", "2014-02-03T04:05:06Z", `{"total":12.5,"items":[{"sku":"a"}],"":null}`, 1.5, int64(-1))
	f.Add("\xff\u2028<&>\"\\", "\x00\x1f", "", `{"a":{"b":{"c":[[],{}]}}}`, math.Copysign(0, -1), int64(math.MaxInt64))
	f.Add("", "E", "2014-02-03", `[1]`, 1e-7, int64(0))
	f.Add("ada", strings.Repeat("é", 20_000), "yesterday", `{}`, math.NaN(), int64(1))
	f.Fuzz(func(t *testing.T, userId, event, timestamp, properties string, float float64, integer int64) {
		values := map[string]interface{}{"float": float, "single": float32(float), "integer": integer, "text": event, userId: []string{event}}
		var parsed interface{}
		if json.Unmarshal([]byte(properties), &parsed) == nil {
			values["parsed"] = parsed
		}
		message := &Track{UserId: userId, Event: event, Timestamp: timestamp, MessageId: "m", Properties: values}
		e := newEncoder()
		err := e.encode(ref(message.call()))

		_, badValues := standard(values)
		plain := map[string]any{
			"type": "track", "messageId": "m", "timestamp": timestamp, "userId": userId, "event": event, "properties": values,
		}
		if timestamp != "" {
			plain["sentAt"] = nil
		}
		expected, _ := standard(plain)
		// encoding/json has shorter escapes for two characters in some versions of Go.
		mayBeTooLarge := len(expected)+4*(strings.Count(expected, `\b`)+strings.Count(expected, `\f`)) > MaxMessageBytes
		switch {
		case userId == "" || event == "" || timestamp != "" && !isISO8601(timestamp) || badValues != nil || mayBeTooLarge:
			if err == nil && !mayBeTooLarge {
				t.Errorf("%#v was taken", message)
			}
			return
		case err != nil:
			t.Fatal(err)
		case !utf8.Valid(e.buf):
			t.Errorf("%q is not UTF-8", e.buf)
		}
		var got, want map[string]any
		if err := json.Unmarshal(e.buf, &got); err != nil {
			t.Fatalf("%q: %v", e.buf, err)
		}
		if err := json.Unmarshal([]byte(expected), &want); err != nil {
			t.Fatal(err)
		}
		if timestamp == "" {
			want["timestamp"] = got["timestamp"]
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s\nis not\n%s", e.buf, expected)
		}
	})
}
