package analytics

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"
)

// The number of calls for each fault. ANALYTICS_CALLS=200000 is the full run; a healthy service gets 200,000 always.
func harnessCalls(t *testing.T, fault string) int {
	if text := os.Getenv("ANALYTICS_CALLS"); text != "" {
		calls, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		return calls
	}
	if fault == "answers" {
		return 200_000
	}
	return 2000
}

// Every accepted call is either stored by the service or reported, for any behaviour of the service; the memory is bounded; and
// a closed client leaves nothing behind.
func TestAcceptedIsDeliveredPlusReported(t *testing.T) {
	for _, fault := range []string{"answers", "stalls", "fails", "refuses", "resets", "trickles", "restarts"} {
		t.Run(fault, func(t *testing.T) { runHarness(t, fault, harnessCalls(t, fault)) })
	}
}

func runHarness(t *testing.T, fault string, calls int) {
	before := runtime.NumGoroutine()
	memory := watchMemory()
	service := startFaultyService(t, faults[fault])
	client := New("wk_test")
	client.Endpoint = "http://" + service.address
	client.QueueSize = 125
	if fault == "answers" {
		client.QueueSize = defaultQueueSize
	}
	client.Client.Timeout = 500 * time.Millisecond
	client.DrainTimeout = 5 * time.Minute
	client.Logger.SetOutput(&lineBuffer{})
	// Written by the sending goroutine, which ends before Close returns.
	reported := map[int]bool{}
	client.OnError = func(err *SendError) {
		for _, raw := range err.Messages {
			for _, id := range idsIn(raw) {
				if reported[id] {
					t.Errorf("m-%d is reported twice", id)
				}
				reported[id] = true
			}
		}
	}
	makeCalls(t, client, calls)
	err := client.Close()
	stats := client.Stats()
	peak := memory()

	if unsentIn(err) != uint64(len(reported)) {
		t.Errorf("%d reported, Close returned %v", len(reported), err)
	}
	for id := 0; id < calls; id++ {
		if service.stored[id] == reported[id] {
			t.Fatalf("m-%d: stored %v, reported %v", id, service.stored[id], reported[id])
		}
	}
	if delivered := len(service.stored); delivered+len(reported) != calls || stats.Sent != uint64(delivered) || stats.Queued != 0 {
		t.Errorf("%d accepted, %d delivered, %d reported; %+v", calls, delivered, len(reported), stats)
	}
	if fault != "answers" && service.faults.Load() < 3 {
		t.Errorf("only %d requests were disturbed", service.faults.Load())
	}
	t.Logf("%d delivered, %d reported; %d requests, %d of them disturbed; heap up to %d MB", len(service.stored), len(reported), stats.Requests, service.faults.Load(), peak>>20)
	// The service is in the same process. It holds bodies of half a megabyte and the ids.
	if limit := uint64(64<<20 + 100*calls); peak > limit {
		t.Errorf("the heap has grown by %d bytes", peak)
	}
	service.restarting.Wait()
	eventually(t, "open connections", func() bool { return service.open.Load() == 0 })
	service.close()
	eventually(t, "goroutines", func() bool { return runtime.NumGoroutine() <= before })
}

// makeCalls makes the calls m-0, m-1 and so on from several goroutines. Every thousandth is a poison.
func makeCalls(t *testing.T, client *Client, calls int) {
	const goroutines = 8
	var running sync.WaitGroup
	for g := 0; g < goroutines; g++ {
		running.Add(1)
		go func(g int) {
			defer running.Done()
			for id := g; id < calls; id += goroutines {
				event := "E"
				if id%1000 == 500 {
					event = "poison"
				}
				if err := client.Track(&Track{UserId: "ada", Event: event, MessageId: fmt.Sprintf("m-%d", id)}); err != nil {
					t.Errorf("m-%d: %v", id, err)
				}
			}
		}(g)
	}
	running.Wait()
}

// watchMemory samples the heap. The returned function ends this, and returns the growth at the peak.
func watchMemory() func() uint64 {
	heap := func() uint64 {
		var stats runtime.MemStats
		runtime.ReadMemStats(&stats)
		return stats.HeapAlloc
	}
	runtime.GC()
	from := heap()
	peak := from
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		ticker := time.NewTicker(20 * time.Millisecond)
		defer ticker.Stop()
		for {
			select {
			case <-stop:
				return
			case <-ticker.C:
				peak = max(peak, heap())
			}
		}
	}()
	return func() uint64 {
		close(stop)
		<-stopped
		return peak - from
	}
}

// The one limit of everything that a test awaits: many times what a busy machine needs.
const limit = 2 * time.Minute

// eventually waits for a condition that another goroutine brings about.
func eventually(t *testing.T, name string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(limit); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if holds() {
			return
		}
	}
	stacks := make([]byte, 1<<16)
	t.Errorf("%s are left:\n%s", name, stacks[:runtime.Stack(stacks, true)])
}

// The same with a client whose messages can never be sent: memory is bounded, and each is reported.
func TestWithoutAServiceEverythingIsReported(t *testing.T) {
	for name, limit := range map[string]func(*Client){
		"attempts": func(c *Client) { c.MaxAttempts = 1 },
		"age":      func(c *Client) { c.MaxAge = time.Nanosecond },
	} {
		t.Run(name, func(t *testing.T) {
			service := startFaultyService(t, faults["answers"])
			service.close()
			client := New("wk_test")
			client.Endpoint = "http://" + service.address
			client.QueueSize = 250
			limit(client)
			reasons := map[Reason]int{}
			client.OnError = func(err *SendError) {
				for _, raw := range err.Messages {
					var message struct{ MessageId string }
					if json.Unmarshal(raw, &message) == nil && message.MessageId != "" {
						reasons[err.Reason]++
					}
				}
			}
			makeCalls(t, client, 2000)
			err := client.Close()
			expected := Exhausted
			if name == "age" {
				expected = Expired
			}
			if unsentIn(err) != 2000 || reasons[expected] != 2000 {
				t.Errorf("reported %v, Close returned %v", reasons, err)
			}
		})
	}
}

// ref returns the address of a value.
func ref[T any](value T) *T { return &value }
