package analytics

import (
	"strings"
	"time"
)

// appendTime writes a time in the format of the service: UTC with milliseconds.
func appendTime(buf []byte, t time.Time) []byte {
	buf = t.UTC().AppendFormat(buf, time.RFC3339)
	ms := t.Nanosecond() / 1e6
	return append(buf[:len(buf)-1], '.', hexDigits[ms/100], hexDigits[ms/10%10], hexDigits[ms%10], 'Z')
}

// isISO8601 reports whether the service can read a time: a calendar date of ISO 8601, optionally with a time, in the
// extended or the basic form, with T or a space between the two. The offset may follow a space, may have no colon, and
// may be missing (then it is UTC). The years are 0000 to 9999 in UTC.
func isISO8601(s string) bool {
	year, s, ok := number(s, 4)
	if !ok {
		return false
	}
	skip(&s, "-")
	month, s, ok := number(s, 2)
	if !ok {
		return false
	}
	skip(&s, "-")
	day, s, ok := number(s, 2)
	if !ok || !isDay(year, month, day) {
		return false
	}
	if s == "" {
		return true
	}
	seconds, ok := 0, skip(&s, "Tt ")
	if ok {
		seconds, ok = readTime(s)
	}
	if !ok || year > 0 && year < 9999 {
		return ok
	}
	utc := time.Date(year, time.Month(month), day, 0, 0, seconds, 0, time.UTC).Year()
	return utc >= 0 && utc <= 9999
}

func isDay(year, month, day int) bool {
	// Day 0 of the next month is the last day of this one.
	return month >= 1 && month <= 12 && day >= 1 && day <= time.Date(year, time.Month(month)+1, 0, 0, 0, 0, 0, time.UTC).Day()
}

// readTime reads hh, hhmm, hh:mm, hh:mm:ss or hh:mm:ss.fff, and an offset, as seconds of the day in UTC.
func readTime(s string) (seconds int, ok bool) {
	hour, s, ok := number(s, 2)
	if !ok || hour > 24 {
		return 0, false
	}
	seconds = hour * 3600
	for part, unit := range []int{60, 1} {
		after := s
		skip(&after, ":")
		n, after, ok := number(after, 2)
		if !ok {
			break
		}
		// 60 is a leap second.
		if n > 59+part {
			return 0, false
		}
		seconds, s = seconds+n*unit, after
		if part == 1 && !skipFraction(&s) {
			return 0, false
		}
	}
	if hour == 24 && seconds > 24*3600 {
		return 0, false
	}
	if s == "" {
		return seconds, true
	}
	offset, ok := readOffset(s)
	return seconds - offset, ok
}

func skipFraction(s *string) bool {
	if !skip(s, ".,") {
		return true
	}
	digits := 0
	for digits < len(*s) && '0' <= (*s)[digits] && (*s)[digits] <= '9' {
		digits++
	}
	*s = (*s)[digits:]
	return digits > 0
}

func readOffset(s string) (seconds int, ok bool) {
	if s == "Z" || s == "z" {
		return 0, true
	}
	skip(&s, " ")
	sign := 1
	if strings.HasPrefix(s, "-") {
		sign = -1
	}
	if !skip(&s, "+-") {
		return 0, false
	}
	hours, s, ok := number(s, 2)
	if !ok || hours > 23 {
		return 0, false
	}
	if s == "" {
		return sign * hours * 3600, true
	}
	skip(&s, ":")
	minutes, s, ok := number(s, 2)
	return sign * (hours*3600 + minutes*60), ok && minutes <= 59 && s == ""
}

// number reads the given number of digits from the beginning of s.
func number(s string, digits int) (n int, rest string, ok bool) {
	if len(s) < digits {
		return 0, s, false
	}
	for i := 0; i < digits; i++ {
		if s[i] < '0' || s[i] > '9' {
			return 0, s, false
		}
		n = n*10 + int(s[i]-'0')
	}
	return n, s[digits:], true
}

// skip moves past the first byte of s if it is one of `any`.
func skip(s *string, any string) bool {
	for i := 0; i < len(any) && *s != ""; i++ {
		if (*s)[0] == any[i] {
			*s = (*s)[1:]
			return true
		}
	}
	return false
}
