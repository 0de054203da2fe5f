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
		{20, 5, "patient", waiting},
		{20, 6, "patient", split},
		{1, 5, "patient", waiting},
		{1, 6, "patient", probing},
	} {
		has := func(mark string) bool { return strings.Contains(c.marks, mark) }
		patience := suspicious
		if has("patient") {
			patience = 6
		}
		got := refusal{c.messages, c.failures, patience, has("split"), has("taken"), has("room")}.nextState()
		if got != c.expected {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

// The same table is in TypeScript, too.
func TestAMessageAsideIsSentSeveralTimesInARowAfterItsThirdRefusalAndBeforeItIsReported(t *testing.T) {
	for _, c := range []struct {
		refusals, minutes, inARow, seconds int
		expected                           batchState
	}{
		{2, 60, 1, 0, aside},
		{3, 1, 1, 0, insisting},
		{3, 1, 11, 9, insisting},
		{3, 1, 12, 0, aside},
		{3, 1, 2, 10, aside},
		{19, 60, 1, 0, aside},
		{60, 14, 1, 0, aside},
		{20, 15, 1, 0, insisting},
		{20, 15, 11, 9, insisting},
		{20, 15, 12, 0, reported},
		{20, 15, 2, 10, reported},
	} {
		since, inARowTime := time.Duration(c.minutes)*time.Minute, time.Duration(c.seconds)*time.Second
		if got := (refusalAside{c.refusals, since, c.inARow, inARowTime, true}).nextState(leastAside); got != c.expected {
			t.Errorf("%+v: %s", c, got)
		}
	}
	if got := (refusalAside{3, time.Minute, 1, 0, false}).nextState(leastAside); got != aside {
		t.Error(got)
	}
}

func TestABatchIsSuspiciousAfterMoreFailuresThanOneAfterWhichItWasTaken(t *testing.T) {
	got := []int{patienceAfter(0, 3), patienceAfter(5, 3), patienceAfter(5, 9), patienceAfter(11, 3), patienceAfter(12, 3)}
	if fmt.Sprint(got) != "[3 6 9 12 3]" {
		t.Errorf("patience %v", got)
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
