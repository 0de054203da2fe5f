package analytics

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"unicode/utf8"
)

// Writes values as encoding/json does with SetEscapeHTML(false): map keys are sorted, invalid UTF-8 becomes U+FFFD,
// numbers are the same. Common types of properties are written here, without reflection. All others are left to
// encoding/json.

var errOverLimit = errors.New("over the limit")

// Deeper levels are left to encoding/json, which detects cycles.
const maxOwnDepth = 100

// appendValue fails early, with errOverLimit, when the message is too large already, so that a huge value is not
// written completely.
func (e *encoder) appendValue(value any, depth int) error {
	switch v := value.(type) {
	case nil:
		e.buf = append(e.buf, "null"...)
	case string:
		return e.appendText(v)
	case bool:
		e.buf = strconv.AppendBool(e.buf, v)
	case int:
		e.buf = strconv.AppendInt(e.buf, int64(v), 10)
	case int64:
		e.buf = strconv.AppendInt(e.buf, v, 10)
	case int32:
		e.buf = strconv.AppendInt(e.buf, int64(v), 10)
	case uint:
		e.buf = strconv.AppendUint(e.buf, uint64(v), 10)
	case uint64:
		e.buf = strconv.AppendUint(e.buf, v, 10)
	case uint32:
		e.buf = strconv.AppendUint(e.buf, uint64(v), 10)
	case float64:
		return e.appendFloat(v, 64)
	case float32:
		return e.appendFloat(float64(v), 32)
	case map[string]interface{}:
		return e.appendMap(v, depth)
	case []interface{}:
		return e.appendSlice(v, depth)
	case []string:
		return appendList(e, v, e.appendText)
	default:
		return e.appendOther(value)
	}
	return nil
}

func (e *encoder) appendMap(m map[string]interface{}, depth int) error {
	if m == nil {
		e.buf = append(e.buf, "null"...)
		return nil
	}
	if depth > maxOwnDepth {
		return e.appendOther(m)
	}
	from := len(e.keys)
	for key := range m {
		e.keys = append(e.keys, key)
	}
	slices.Sort(e.keys[from:])
	e.buf = append(e.buf, '{')
	for i := from; i < from+len(m); i++ {
		key := e.keys[i]
		if len(e.buf) > MaxMessageBytes || len(key) > MaxMessageBytes {
			return errOverLimit
		}
		if i > from {
			e.buf = append(e.buf, ',')
		}
		e.buf = append(appendString(e.buf, key), ':')
		if err := e.appendValue(m[key], depth+1); err != nil {
			return err
		}
	}
	e.buf = append(e.buf, '}')
	e.dropKeys(from)
	return nil
}

// dropKeys removes the keys of one level. They are cleared so that the pool does not retain the caller's strings.
func (e *encoder) dropKeys(from int) {
	clear(e.keys[from:])
	e.keys = e.keys[:from]
}

func (e *encoder) appendSlice(values []interface{}, depth int) error {
	if depth > maxOwnDepth {
		return e.appendOther(values)
	}
	return appendList(e, values, func(value interface{}) error { return e.appendValue(value, depth+1) })
}

func appendList[T any](e *encoder, values []T, appendElement func(T) error) error {
	if values == nil {
		e.buf = append(e.buf, "null"...)
		return nil
	}
	e.buf = append(e.buf, '[')
	for i, value := range values {
		if i > 0 {
			e.buf = append(e.buf, ',')
		}
		if len(e.buf) > MaxMessageBytes {
			return errOverLimit
		}
		if err := appendElement(value); err != nil {
			return err
		}
	}
	e.buf = append(e.buf, ']')
	return nil
}

// appendText refuses one that is over the limit by itself.
func (e *encoder) appendText(text string) error {
	if len(text) > MaxMessageBytes {
		return errOverLimit
	}
	e.buf = appendString(e.buf, text)
	return nil
}

// appendOther leaves a value to encoding/json, which appends a newline. A method of the value, such as MarshalJSON, may panic.
func (e *encoder) appendOther(value any) (err error) {
	defer asError(&err, "it panicked")
	e.spill.Reset()
	if err := e.marshaler.Encode(value); err != nil {
		return err
	}
	written := e.spill.Bytes()
	e.buf = append(e.buf, written[:len(written)-1]...)
	return nil
}

// asError makes the panic of a deferring function its error.
func asError(err *error, what string) {
	if problem := recover(); problem != nil {
		*err = fmt.Errorf("%s: %v", what, problem)
	}
}

// appendFloat writes as ECMAScript does, with an exponent only for very small and very large numbers.
func (e *encoder) appendFloat(f float64, bits int) error {
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return &json.UnsupportedValueError{Value: reflect.ValueOf(f), Str: strconv.FormatFloat(f, 'g', -1, bits)}
	}
	abs := math.Abs(f)
	format := byte('f')
	isExtreme := abs < 1e-6 || abs >= 1e21
	if bits == 32 {
		isExtreme = float32(abs) < 1e-6 || float32(abs) >= 1e21
	}
	if abs != 0 && isExtreme {
		format = 'e'
	}
	e.buf = strconv.AppendFloat(e.buf, f, format, -1, bits)
	if n := len(e.buf); format == 'e' && n >= 4 && e.buf[n-4] == 'e' && e.buf[n-3] == '-' && e.buf[n-2] == '0' {
		// 1e-09 becomes 1e-9.
		e.buf[n-2] = e.buf[n-1]
		e.buf = e.buf[:n-1]
	}
	return nil
}

const hexDigits = "0123456789abcdef"

// Whether a byte needs no escape in a JSON string.
var plain = func() (table [utf8.RuneSelf]bool) {
	for b := range table {
		table[b] = b >= 0x20 && b != '"' && b != '\\'
	}
	return table
}()

func appendString(buf []byte, s string) []byte {
	buf = append(buf, '"')
	start := 0
	for i := 0; i < len(s); {
		b := s[i]
		if b < utf8.RuneSelf {
			if plain[b] {
				i++
				continue
			}
			buf = append(buf, s[start:i]...)
			switch b {
			case '"', '\\':
				buf = append(buf, '\\', b)
			case '\n':
				buf = append(buf, '\\', 'n')
			case '\r':
				buf = append(buf, '\\', 'r')
			case '\t':
				buf = append(buf, '\\', 't')
			default:
				buf = append(buf, '\\', 'u', '0', '0', hexDigits[b>>4], hexDigits[b&0xf])
			}
			i++
			start = i
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			buf = append(append(buf, s[start:i]...), `\ufffd`...)
			start = i + size
		case r == '\u2028' || r == '\u2029':
			// Valid in JSON, but not in JavaScript before 2019.
			buf = append(append(buf, s[start:i]...), `\u202`...)
			buf = append(buf, hexDigits[r&0xf])
			start = i + size
		}
		i += size
	}
	return append(append(buf, s[start:]...), '"')
}
