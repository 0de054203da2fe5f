package analytics

import (
	"context"
	"fmt"
	"log"
	"log/slog"
	"regexp"
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
	if l.slog != nil || l.verbose {
		l.write(slog.LevelDebug, message, pairs)
	}
}

func (l logs) warn(message string, pairs ...any) { l.write(slog.LevelWarn, message, pairs) }

// error logs messages that are not sent, if no callback receives them.
func (l logs) error(err *SendError) {
	if l.slog == nil {
		l.plain.Print(err)
		return
	}
	l.slog.Error("messages not sent", "messages", len(err.Messages), "reason", string(err.Reason),
		"status", err.Status, "attempts", err.Attempts, "error", err.Err)
}

func (l logs) write(level slog.Level, message string, pairs []any) {
	if l.slog != nil {
		l.slog.Log(context.Background(), level, message, pairs...)
		return
	}
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
	for _, pattern := range strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune(", \t\n\r", r) }) {
		pattern, isExcluded := strings.CutPrefix(pattern, "-")
		any := strings.ReplaceAll(regexp.QuoteMeta(pattern), `\*`, ".*")
		if regexp.MustCompile("(?s)^(?:" + any + ")$").MatchString(name) {
			if isExcluded {
				return false
			}
			selected = true
		}
	}
	return selected
}
