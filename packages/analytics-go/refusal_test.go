package analytics

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// The same table is in TypeScript: refusal.test.ts.
func TestARefusedBatchWaitsOrIsSplitOrWaitsForAProbeOrIsSetAside(t *testing.T) {
	for _, c := range []struct {
		messages, failures int
		marks              string
		expected           batchState
	}{
		{20, 1, "taken room", waiting},
		{20, 2, "room", waiting},
		{20, 3, "room", split},
		{20, 9, "", split},
		{20, 1, "split taken room", split},
		{20, 2, "split room", split},
		{1, 1, "taken room", waiting},
		{1, 2, "room", waiting},
		{1, 3, "room", probing},
		{1, 9, "split room", probing},
		{1, 1, "split taken room", aside},
		{1, 1, "split taken", waiting},
		{1, 1, "split room", waiting},
		{1, 2, "split room", waiting},
	} {
		has := func(mark string) bool { return strings.Contains(c.marks, mark) }
		got := refusal{c.messages, c.failures, has("split"), has("taken"), has("room")}.nextState()
		if got != c.expected {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

func TestAMessageAsideIsReportedAfterTwentyRefusalsAndFifteenMinutes(t *testing.T) {
	for _, c := range []struct {
		refusals int
		since    time.Duration
		expected batchState
	}{{19, time.Hour, aside}, {60, 14 * time.Minute, aside}, {20, 15 * time.Minute, reported}} {
		if got := asideState(c.refusals, c.since, leastAside); got != c.expected {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

func TestPartsAndProbesAsInTypeScript(t *testing.T) {
	if got := []int{firstPart(9, 1), firstPart(9, 2), firstPart(9, 3), firstPart(1, 9)}; fmt.Sprint(got) != "[4 4 1 1]" {
		t.Errorf("parts %v", got)
	}
	places := []int{1}
	for n := 0; n < 6; n++ {
		places = append(places, nextPlaces(places[n]))
	}
	if fmt.Sprint(places) != "[1 2 3 5 8 12 18]" {
		t.Errorf("places %v", places)
	}
}
