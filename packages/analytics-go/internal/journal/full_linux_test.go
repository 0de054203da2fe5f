package journal

import (
	"os/signal"
	"strings"
	"syscall"
	"testing"
)

// As with a full disk, the system writes a part of the record.
func TestAPartOfARecordIsRemoved(t *testing.T) {
	folder := t.TempDir()
	j := open(t, folder)
	appendAll(t, j, "a")
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		t.Fatal(err)
	}
	signal.Ignore(syscall.SIGXFSZ)
	t.Cleanup(func() { signal.Reset(syscall.SIGXFSZ) })
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 1000, Max: before.Max}); err != nil {
		t.Fatal(err)
	}
	_, err := j.Append([]byte(strings.Repeat("b", 2000)), appendedAt)
	if restored := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before); err == nil || restored != nil {
		t.Fatal(err, restored)
	}
	appendAll(t, j, "c")
	kill(t, j)
	j = open(t, folder)
	expectMessages(t, j, "a", "c")
	kill(t, j)
}
