package analytics

import "time"

// appendTime writes a time in the format of the service: UTC with milliseconds.
func appendTime(buf []byte, t time.Time) []byte {
	t = t.UTC()
	year, month, day := t.Date()
	hour, minute, second := t.Clock()
	ms := t.Nanosecond() / 1e6
	buf = appendTwoDigits(appendTwoDigits(buf, year/100), year%100)
	buf = appendTwoDigits(append(buf, '-'), int(month))
	buf = appendTwoDigits(append(buf, '-'), day)
	buf = appendTwoDigits(append(buf, 'T'), hour)
	buf = appendTwoDigits(append(buf, ':'), minute)
	buf = appendTwoDigits(append(buf, ':'), second)
	buf = append(buf, '.', digit(ms/100))
	return append(appendTwoDigits(buf, ms%100), 'Z')
}

func appendTwoDigits(buf []byte, n int) []byte { return append(buf, digit(n/10), digit(n)) }

func digit(n int) byte { return byte('0' + n%10) }

// isISO8601 reports whether a text is a calendar date, optionally with a time, in the extended form. The offset may
// have no colon, and may be missing (then it is UTC). The service accepts more forms, which are not in common use.
func isISO8601(s string) bool {
	year, s, ok := number(s, 4)
	if !ok || !skip(&s, "-") {
		return false
	}
	month, s, ok := number(s, 2)
	if !ok || !skip(&s, "-") {
		return false
	}
	day, s, ok := number(s, 2)
	if !ok || !isDay(year, month, day) {
		return false
	}
	return s == "" || skip(&s, "Tt ") && isTime(s)
}

func isDay(year, month, day int) bool {
	// Day 0 of the next month is the last day of this one.
	return month >= 1 && month <= 12 && day >= 1 && day <= time.Date(year, time.Month(month)+1, 0, 0, 0, 0, 0, time.UTC).Day()
}

// isTime reads hh, hh:mm, hh:mm:ss or hh:mm:ss.fff, and an offset.
func isTime(s string) bool {
	hour, s, ok := number(s, 2)
	if !ok || hour > 24 {
		return false
	}
	var rest int
	for part := 0; part < 2 && skip(&s, ":"); part++ {
		n, after, ok := number(s, 2)
		// 60 is a leap second.
		if !ok || n > 59+part {
			return false
		}
		rest, s = rest+n, after
		if part == 1 && skip(&s, ".,") {
			digits := 0
			for digits < len(s) && '0' <= s[digits] && s[digits] <= '9' {
				digits++
			}
			if digits == 0 {
				return false
			}
			s = s[digits:]
		}
	}
	if hour == 24 && rest > 0 {
		return false
	}
	return s == "" || isOffset(s)
}

func isOffset(s string) bool {
	if s == "Z" || s == "z" {
		return true
	}
	if !skip(&s, "+-") {
		return false
	}
	hours, s, ok := number(s, 2)
	if !ok || hours > 23 || s == "" {
		return ok && hours <= 23
	}
	skip(&s, ":")
	minutes, s, ok := number(s, 2)
	return ok && minutes <= 59 && s == ""
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
