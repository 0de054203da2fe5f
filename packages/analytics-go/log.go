package analytics

import (
	"context"
	"fmt"
	"log"
	"log/slog"
	"strings"
)

// logs writes the lines of a client, to slog if the program has set it.
type logs struct {
	slog    *slog.Logger
	plain   *log.Logger
	verbose bool
}

func newLogs(c *Client) logs {
	l := logs{slog: c.Slog, plain: c.Logger, verbose: c.Verbose}
	if l.plain == nil {
		l.plain = log.Default()
	}
	return l
}

// debug has pairs of a key and a value, as slog has them.
func (l logs) debug(message string, pairs ...any) {
	switch {
	case l.slog != nil:
		l.slog.Debug(message, pairs...)
	case l.verbose:
		l.print(message, pairs)
	}
}

func (l logs) warn(message string, pairs ...any) {
	if l.slog != nil {
		l.slog.Warn(message, pairs...)
		return
	}
	l.print(message, pairs)
}

// error logs messages that are not sent, if no callback receives them.
func (l logs) error(err *SendError) {
	if l.slog == nil {
		l.plain.Print(err)
		return
	}
	l.slog.LogAttrs(context.Background(), slog.LevelError, "messages not sent",
		slog.Int("messages", len(err.Messages)),
		slog.String("reason", string(err.Reason)),
		slog.Int("status", err.Status),
		slog.Int("attempts", err.Attempts),
		slog.Any("error", err.Err))
}

func (l logs) print(message string, pairs []any) {
	var line strings.Builder
	line.WriteString(message)
	for i := 0; i+1 < len(pairs); i += 2 {
		fmt.Fprintf(&line, " %v=%v", pairs[i], pairs[i+1])
	}
	l.plain.Print(line.String())
}

// matchesDebug reports whether a value of the environment variable DEBUG selects a name. Patterns are separated by
// commas or white space, * is any text, and a pattern after - excludes, wherever it stands.
func matchesDebug(value, name string) bool {
	selected := false
	for _, pattern := range strings.FieldsFunc(value, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' || r == '\n' || r == '\r' }) {
		excluded, isExcluded := strings.CutPrefix(pattern, "-")
		if isExcluded && matchesPattern(excluded, name) {
			return false
		}
		selected = selected || !isExcluded && matchesPattern(pattern, name)
	}
	return selected
}

func matchesPattern(pattern, name string) bool {
	before, after, ok := strings.Cut(pattern, "*")
	if !ok {
		return pattern == name
	}
	if !strings.HasPrefix(name, before) {
		return false
	}
	after = strings.TrimLeft(after, "*")
	// The star matches any text, and the rest of the pattern one of the ends of the name.
	for i := len(before); i <= len(name); i++ {
		if matchesPattern(after, name[i:]) {
			return true
		}
	}
	return false
}
