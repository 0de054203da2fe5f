package analytics

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// A failing service answers 500 to each request with a bad message, and to all while it is down.
type failing struct {
	down     atomic.Bool
	healed   atomic.Bool
	requests atomic.Int64
	// Every second request fails for another reason.
	half bool
	// The answers to all requests, again and again: x for 500.
	answers string

	mu    sync.Mutex
	taken []string
}

func (f *failing) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	n := f.requests.Add(1)
	if f.down.Load() || f.answers != "" && f.answers[n%int64(len(f.answers))] == 'x' || f.half && n*n%7 < 3 || !f.healed.Load() && strings.Contains(string(body), `"event":"bad`) {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, after := range strings.Split(string(body), `"event":"`)[1:] {
		event, _, _ := strings.Cut(after, `"`)
		f.taken = append(f.taken, event)
	}
}

func (f *failing) events() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.taken)
}

func (f *failing) await(t *testing.T, count int) {
	t.Helper()
	eventually(t, fmt.Sprintf("fewer than %d messages were taken; they", count), func() bool { return len(f.events()) >= count })
}

func awaitQueued(t *testing.T, client *Client, count int) {
	t.Helper()
	eventually(t, fmt.Sprintf("other than %d messages", count), func() bool { return client.Stats().Queued == count })
}

// withoutPauses makes all pauses short, and messages aside always due, before the first call.
func withoutPauses(t *testing.T, client *Client) {
	t.Helper()
	if err := client.start(); err != nil {
		t.Fatal(err)
	}
	client.sender.backoff = func(int) time.Duration { return time.Microsecond }
	client.sender.aside.backoff, client.sender.aside.pace = func(int) time.Duration { return 0 }, 0
}

func trackEvents(t *testing.T, client *Client, events ...string) {
	t.Helper()
	for _, event := range events {
		if err := client.Track(&Track{UserId: "ada", Event: event}); err != nil {
			t.Fatal(err)
		}
	}
}

func numberedEvents(count int) []string {
	events := make([]string, count)
	for n := range events {
		events[n] = fmt.Sprintf("e%d", n)
	}
	return events
}

var ended = func() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}()

func TestACallThatTheServiceAlwaysFailsForIsOvertakenByAllOthers(t *testing.T) {
	service := &failing{}
	client := newTestClient(t, service)
	var failed []*SendError
	client.OnError = func(err *SendError) { failed = append(failed, err) }
	events := numberedEvents(120)
	trackEvents(t, client, events[:10]...)
	trackEvents(t, client, "bad")
	trackEvents(t, client, events[10:]...)
	service.await(t, 120)
	if got := service.events(); !slices.Equal(got, events) {
		t.Errorf("taken %v", got)
	}
	// The service takes messages before the client has read its answer.
	awaitQueued(t, client, 1)
	err := client.CloseContext(ended)
	if unsentIn(err) != 1 || len(failed) != 1 || failed[0].Reason != ClosedEarly || !strings.Contains(string(failed[0].Messages[0]), `"bad"`) {
		t.Errorf("reported %v, Close returned %v", failed, err)
	}
}

func TestItIsReportedOnceAfterTwentyRefusalsWhileOthersAreTaken(t *testing.T) {
	service := &failing{}
	client := newTestClient(t, service)
	client.FlushAt = 1
	withoutPauses(t, client)
	client.sender.leastAside = 0
	reports := make(chan *SendError, 10)
	client.OnError = func(err *SendError) { reports <- err }
	client.sender.report.onError = client.OnError
	trackEvents(t, client, "bad", "e")
	service.await(t, 1)
	// Without other requests, nothing shows that the service is up.
	before := service.requests.Load()
	eventually(t, "too few attempts", func() bool { return service.requests.Load() > before+100 })
	if len(reports) > 0 {
		t.Fatalf("reported %v", <-reports)
	}
	calls := 1
	for len(reports) == 0 {
		trackEvents(t, client, "e")
		calls++
		service.await(t, calls)
	}
	if err := client.Close(); unsentIn(err) != 1 {
		t.Errorf("Close returned %v", err)
	}
	report := <-reports
	if len(reports) > 0 || report.Reason != Refused || report.Status != 500 || calls < mostRefusals {
		t.Errorf("reported %v after %d calls", report, calls)
	}
}

func TestAServiceThatFailsForEverythingGetsAllInOrderWhenItIsBack(t *testing.T) {
	service := &failing{}
	service.down.Store(true)
	client := newTestClient(t, service)
	client.OnError = func(err *SendError) { t.Errorf("reported %v", err) }
	withoutPauses(t, client)
	events := numberedEvents(60)
	trackEvents(t, client, events...)
	eventually(t, "too few attempts", func() bool { return service.requests.Load() > 200 })
	service.down.Store(false)
	if err := client.Close(); err != nil {
		t.Error(err)
	}
	got := service.events()
	// A probe follows each attempt at once. Where the service is back just between them, its message is first.
	if sorted := slices.Clone(got); len(got) == 60 {
		slices.SortFunc(sorted, byNumber)
		if !slices.Equal(sorted, events) || outOfOrder(got) > 1 {
			t.Errorf("taken %v", got)
		}
	} else {
		t.Errorf("%d taken", len(got))
	}
}

func byNumber(a, b string) int {
	if len(a) != len(b) {
		return len(a) - len(b)
	}
	return strings.Compare(a, b)
}

// outOfOrder counts the events that come after a later one.
func outOfOrder(events []string) int {
	count := 0
	for i := 1; i < len(events); i++ {
		if byNumber(events[i], events[i-1]) < 0 {
			count++
		}
	}
	return count
}

func TestAServiceThatFailsForHalfOfTheRequestsLosesNothing(t *testing.T) {
	service := &failing{half: true}
	client := newTestClient(t, service)
	client.OnError = func(err *SendError) { t.Errorf("reported %v", err) }
	withoutPauses(t, client)
	trackEvents(t, client, numberedEvents(20_000)...)
	if err := client.Close(); err != nil {
		t.Error(err)
	}
	if got := service.events(); len(got) != 20_000 {
		t.Errorf("%d taken", len(got))
	}
}

func TestAServiceThatFailsForEverySecondRequestOrTakesEveryTenthOnlyLosesNothing(t *testing.T) {
	for _, answers := range []string{".x", "..x", "....x", ".xx", ".xxx", ".xxxx", ".xxxxx", ".xxxxxxx", ".xxxxxxxxx", ".x.xx"} {
		t.Run(answers, func(t *testing.T) {
			service := &failing{answers: answers}
			client := newTestClient(t, service)
			client.FlushAt = 1
			client.OnError = func(err *SendError) { t.Errorf("reported %v", err) }
			withoutPauses(t, client)
			client.sender.leastAside = 0
			events := numberedEvents(600)
			for n, event := range events {
				trackEvents(t, client, event)
				if n%10 == 0 {
					service.await(t, n/2)
				}
			}
			if err := client.Close(); err != nil {
				t.Error(err)
			}
			if got := service.events(); len(got) != len(events) {
				t.Errorf("%d taken", len(got))
			}
		})
	}
}

func TestAThousandBadCallsAmongAHundredThousandHoldUpNoOther(t *testing.T) {
	service := &failing{}
	client := newTestClient(t, service)
	client.OnError = func(*SendError) {}
	withoutPauses(t, client)
	client.sender.aside.pace = time.Hour
	for n := 0; n < 100_000; n++ {
		event := fmt.Sprintf("e%d", n)
		if n%100 == 50 {
			event = fmt.Sprintf("bad%d", n)
		}
		trackEvents(t, client, event)
	}
	if err := client.queueFlush(); err != nil {
		t.Fatal(err)
	}
	service.await(t, 99_000)
	// Halving 2,500 messages with a bad one takes at most 2 * 12 requests, and a few to find that the service is up.
	if got := outOfOrder(service.events()); got > 10 || service.requests.Load() > 25_000 {
		t.Errorf("%d out of order, %d requests", got, service.requests.Load())
	}
	awaitQueued(t, client, 1000)
	t.Logf("%d requests", service.requests.Load())
	if err := client.CloseContext(ended); unsentIn(err) != 1000 {
		t.Errorf("Close returned %v", err)
	}
}

// queueFlush makes all messages due, without waiting for them.
func (c *Client) queueFlush() error {
	err := c.FlushContext(ended)
	if errors.Is(err, ErrNotDrained) {
		return nil
	}
	return err
}

func TestAtMostHalfOfTheQueueIsAside(t *testing.T) {
	list := newAsideList(4, 1000, 10, 1000)
	b := newBatch(0, 0)
	for n := 0; n < 3; n++ {
		b.add([]byte(strings.Repeat("x", 100)), 0)
		if got := list.hasRoom(100); got != (n < 2) {
			t.Errorf("with %d aside: %v", n, got)
		}
		list.add(b, n, 0)
	}
	if newAsideList(10, 100, 10, 1000).hasRoom(51) {
		t.Error("more than half of the bytes")
	}
}

func TestAfterAMessageAsideWasTakenTheOthersAreTriedTogetherAndThenInParts(t *testing.T) {
	list := newAsideList(100, 10000, 50, 1000)
	list.pace, list.backoff = 0, func(int) time.Duration { return 0 }
	b := newBatch(0, 0)
	for n := 0; n < 8; n++ {
		b.add([]byte(strings.Repeat("x", 150)), 0)
		list.add(b, n, 0)
	}
	take := func(want int) []*asideMessage {
		t.Helper()
		due := list.takeDue()
		if len(due) != want {
			t.Fatalf("%d are due, not %d", len(due), want)
		}
		return due
	}
	take(1)
	list.recovered()
	// Six have at most 1,000 bytes.
	list.narrow(take(6))
	list.narrow(take(3))
	list.narrow(take(2))
	list.putBack(take(1)[0])
	take(1)
	if list.held != 6*150 {
		t.Errorf("%d bytes are held", list.held)
	}
}

func TestMessagesAsideAreSentTogetherWhenTheServiceIsBack(t *testing.T) {
	service := &failing{}
	client := newTestClient(t, service)
	client.FlushAt = 2
	client.OnError = func(err *SendError) { t.Errorf("reported %v", err) }
	withoutPauses(t, client)
	client.sender.aside.pace = 5 * time.Millisecond
	for n := 0; n < 10; n++ {
		trackEvents(t, client, fmt.Sprintf("bad%d", n), fmt.Sprintf("e%d", n))
	}
	service.await(t, 10)
	service.healed.Store(true)
	if err := client.Close(); err != nil {
		t.Error(err)
	}
	taken := service.events()
	slices.Sort(taken)
	if len(taken) != 20 || len(slices.Compact(taken)) != 20 {
		t.Errorf("taken: %v", taken)
	}
}

func TestFlushWaitsForTheMessagesAsideOfBeforeAndNotForLaterOnes(t *testing.T) {
	service := &failing{}
	client := newTestClient(t, service)
	client.OnError = func(*SendError) {}
	withoutPauses(t, client)
	trackEvents(t, client, "bad")
	trackEvents(t, client, numberedEvents(20)...)
	service.await(t, 20)
	settled, _ := client.queue.flush()
	trackEvents(t, client, numberedEvents(40)...)
	service.await(t, 60)
	select {
	case <-settled:
		t.Error("the flush has ended")
	default:
	}
	service.healed.Store(true)
	<-settled
	if err := client.Close(); err != nil {
		t.Error(err)
	}
}

func TestTheFolderKeepsAMessageAsideAndNoneThatWasSent(t *testing.T) {
	folder := t.TempDir()
	service := &failing{}
	client := newTestClient(t, service)
	client.QueueDir = folder
	trackEvents(t, client, "e", "bad")
	trackEvents(t, client, numberedEvents(50)...)
	service.await(t, 51)
	awaitQueued(t, client, 1)
	var unsent *UnsentError
	if err := client.CloseContext(ended); !errors.As(err, &unsent) || unsent.Kept != 1 || unsent.Reported != 0 {
		t.Errorf("Close returned %v", err)
	}
	service = &failing{}
	service.healed.Store(true)
	client = newTestClient(t, service)
	client.QueueDir = folder
	if err := client.Close(); err != nil {
		t.Error(err)
	}
	if got := service.events(); !slices.Equal(got, []string{"bad"}) {
		t.Errorf("taken %v", got)
	}
}

// A message aside does not keep the files of all that are sent after it.
func TestTheFolderStaysSmallWhileAMessageIsAside(t *testing.T) {
	folder := t.TempDir()
	service := &failing{}
	client := newTestClient(t, service)
	client.QueueDir, client.QueueSync = folder, -1
	client.OnError = func(err *SendError) { t.Errorf("reported %v", err) }
	withoutPauses(t, client)
	trackEvents(t, client, "bad")
	text := strings.Repeat("x", 30_000)
	const calls = 1500
	for n := 0; n < calls; n++ {
		if err := client.Track(&Track{UserId: "ada", Event: "e", Properties: map[string]interface{}{"text": text}}); err != nil {
			t.Fatal(err)
		}
		if n%50 == 0 {
			_ = client.queueFlush()
			service.await(t, n+1)
		}
		if files, _ := filepath.Glob(filepath.Join(folder, "*.queue")); len(files) > 5 {
			t.Fatalf("%d files after %d calls", len(files), n)
		}
	}
	_ = client.queueFlush()
	service.await(t, calls)
	service.healed.Store(true)
	if err := client.Close(); err != nil {
		t.Error(err)
	}
}
