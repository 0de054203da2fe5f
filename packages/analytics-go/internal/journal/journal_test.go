package journal

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

func open(t *testing.T, folder string) *Journal {
	t.Helper()
	j, err := Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

var appendedAt = time.UnixMilli(1_700_000_000_123)

func appendAll(t *testing.T, j *Journal, messages ...string) {
	t.Helper()
	for _, message := range messages {
		if _, err := j.Append([]byte(message), appendedAt); err != nil {
			t.Fatal(err)
		}
	}
}

// settleNext settles the oldest messages.
func settleNext(j *Journal, messages int) error {
	numbers := make([]uint64, messages)
	for i := range numbers {
		numbers[i] = j.base + j.settled + uint64(i)
	}
	return j.Settle(numbers, 0)
}

func replay(t *testing.T, j *Journal) (messages []string, damages []Damage) {
	t.Helper()
	damages, err := j.Replay(func(message []byte, at time.Time, _ uint64) {
		messages = append(messages, string(message))
		if !at.Equal(appendedAt) {
			t.Errorf("%q has the time %v", message, at)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return messages, damages
}

// kill closes the files without any of the work of Close, as the end of the process does.
func kill(t *testing.T, j *Journal) {
	t.Helper()
	for _, file := range []*os.File{j.file, j.position, j.lock} {
		if file != nil {
			if err := file.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func expectMessages(t *testing.T, j *Journal, expected ...string) {
	t.Helper()
	if got, damages := replay(t, j); !reflect.DeepEqual(got, expected) || len(damages) > 0 {
		t.Errorf("replayed %q, with %v, not %q", got, damages, expected)
	}
}

func TestUnsettledMessagesAreReplayedAfterAKill(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "new", "folder")
	j := open(t, folder)
	expectMessages(t, j)
	appendAll(t, j, "a", "b", "c")
	if err := settleNext(j, 1); err != nil {
		t.Fatal(err)
	}
	kill(t, j)

	j = open(t, folder)
	expectMessages(t, j, "b", "c")
	appendAll(t, j, "d")
	if err := settleNext(j, 1); err != nil {
		t.Fatal(err)
	}
	kill(t, j)

	j = open(t, folder)
	expectMessages(t, j, "c", "d")
	if err := settleNext(j, 2); err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if left := segments(t, folder); len(left) > 0 {
		t.Errorf("%v are left", left)
	}
	j = open(t, folder)
	expectMessages(t, j)
	// A number is not used again, because the position names it.
	appendAll(t, j, "e")
	kill(t, j)
	j = open(t, folder)
	expectMessages(t, j, "e")
	kill(t, j)
}

func segments(t *testing.T, folder string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(folder, "*"+suffix))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestSettledSegmentsAreRemoved(t *testing.T) {
	folder := t.TempDir()
	j := open(t, folder)
	message := strings.Repeat("x", 32<<10)
	const perSegment = SegmentBytes/(32<<10) + 1
	for n := 0; n < 5*perSegment; n++ {
		appendAll(t, j, message)
		if n >= 10 {
			if err := settleNext(j, 1); err != nil {
				t.Fatal(err)
			}
		}
		if left := segments(t, folder); len(left) > 2 {
			t.Fatalf("%d segments", len(left))
		}
	}
	kill(t, j)
	j = open(t, folder)
	if got, _ := replay(t, j); len(got) != 10 {
		t.Errorf("%d replayed", len(got))
	}
	kill(t, j)
}

func TestATornOrDamagedRecordIsSkippedAndReported(t *testing.T) {
	whole := func(t *testing.T) (folder, file string, content []byte) {
		folder = t.TempDir()
		j := open(t, folder)
		appendAll(t, j, "first", "second", "third")
		kill(t, j)
		file = segments(t, folder)[0]
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return folder, file, content
	}
	check := func(t *testing.T, folder string, cause error, bytes int, expected ...string) {
		t.Helper()
		j := open(t, folder)
		got, damages := replay(t, j)
		if !reflect.DeepEqual(got, expected) {
			t.Errorf("replayed %q, not %q", got, expected)
		}
		if len(damages) != 1 || !errors.Is(damages[0], cause) || damages[0].Bytes != int64(bytes) {
			t.Errorf("reported %v", damages)
		}
		// The messages of later processes are not affected.
		appendAll(t, j, "later")
		kill(t, j)
		j = open(t, folder)
		if got, _ := replay(t, j); !reflect.DeepEqual(got, append(expected, "later")) {
			t.Errorf("replayed %q then", got)
		}
		kill(t, j)
	}
	_, _, content := whole(t)
	for cut := len(content) - len("third") - headBytes - timeBytes + 1; cut < len(content); cut++ {
		t.Run(fmt.Sprint("cut after ", cut), func(t *testing.T) {
			folder, file, content := whole(t)
			if err := os.WriteFile(file, content[:cut], 0o600); err != nil {
				t.Fatal(err)
			}
			check(t, folder, ErrTorn, cut-(len(content)-len("third")-headBytes-timeBytes), "first", "second")
		})
	}
	t.Run("a changed byte", func(t *testing.T) {
		folder, file, content := whole(t)
		if err := os.WriteFile(file, bytes.Replace(content, []byte("second"), []byte("sEcond"), 1), 0o600); err != nil {
			t.Fatal(err)
		}
		check(t, folder, ErrChecksum, 2*(headBytes+timeBytes)+len("secondthird"), "first")
	})
	t.Run("zeros, as some file systems leave them after a loss of power", func(t *testing.T) {
		folder, file, content := whole(t)
		if err := os.WriteFile(file, append(content, make([]byte, 100)...), 0o600); err != nil {
			t.Fatal(err)
		}
		check(t, folder, ErrChecksum, 100, "first", "second", "third")
	})
}

func TestADamagedPositionRepeatsMessages(t *testing.T) {
	folder := t.TempDir()
	j := open(t, folder)
	appendAll(t, j, "a", "b")
	if err := settleNext(j, 1); err != nil {
		t.Fatal(err)
	}
	kill(t, j)
	if err := os.WriteFile(filepath.Join(folder, positionFile), []byte("?"), 0o600); err != nil {
		t.Fatal(err)
	}
	j = open(t, folder)
	expectMessages(t, j, "a", "b")
	kill(t, j)
}

func TestAFolderHasOneUser(t *testing.T) {
	folder := t.TempDir()
	j := open(t, folder)
	if _, err := Open(folder); !errors.Is(err, ErrInUse) {
		t.Errorf("the second Open returned %v", err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if err := open(t, folder).Close(); err != nil {
		t.Fatal(err)
	}
}

func TestAFailedAppendStoresNothing(t *testing.T) {
	folder := t.TempDir()
	j := open(t, folder)
	appendAll(t, j, "a")
	file := j.file
	readOnly, err := os.Open(file.Name())
	if err != nil {
		t.Fatal(err)
	}
	j.file = readOnly
	if _, err := j.Append([]byte("b"), appendedAt); err == nil {
		t.Error("a record was written to a file that is only read")
	}
	j.file = file
	appendAll(t, j, "c")
	readOnly.Close()
	kill(t, j)
	j = open(t, folder)
	expectMessages(t, j, "a", "c")
	kill(t, j)
}

func TestMessagesAreSyncedInAnInterval(t *testing.T) {
	j := open(t, t.TempDir())
	stop := j.SyncEvery(time.Millisecond, func(err error) { t.Error(err) })
	for n := 0; n < 3; n++ {
		appendAll(t, j, "message")
		isDirty := func() bool {
			j.mu.Lock()
			defer j.mu.Unlock()
			return j.dirty
		}
		for deadline := time.Now().Add(30 * time.Second); isDirty(); time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatal("not synced")
			}
		}
	}
	stop()
	kill(t, j)
}
