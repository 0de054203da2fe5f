// Makes numbered calls with the client for Go, as fast as it takes them, and closes it. Arguments: the endpoint and the number
// of calls. Prints what has become of them as one line of JSON, as conservation.ts reads it.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"runtime"
	"strconv"
	"syscall"
	"time"

	analytics "github.com/tailrace/tailrace/packages/analytics-go/v2"
)

type report struct {
	Accepted      int      `json:"accepted"`
	RefusedByCall int      `json:"refusedByCall"`
	Unsent        uint64   `json:"unsent"`
	Reported      []string `json:"reported"`
	Left          []string `json:"left"`
	PeakMegabytes float64  `json:"peakMegabytes"`
}

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: go <endpoint> <calls>")
	}
	calls, err := strconv.Atoi(os.Args[2])
	if err != nil {
		log.Fatal(err)
	}
	if err := json.NewEncoder(os.Stdout).Encode(track(os.Args[1], calls)); err != nil {
		log.Fatal(err)
	}
}

func track(endpoint string, calls int) report {
	result := report{Reported: []string{}, Left: []string{}}
	client := analytics.New("wk_test")
	client.Endpoint = endpoint
	client.Client.Timeout = 250 * time.Millisecond
	client.DrainTimeout = 5 * time.Minute
	// Below the default for a few thousand calls, so that they take many requests; the same in node-program.ts.
	if calls <= 100_000 {
		client.QueueSize = 500
	} else {
		client.Client.Timeout = 10 * time.Second
	}
	client.OnError = func(err *analytics.SendError) {
		for _, raw := range err.Messages {
			var message struct{ MessageId string }
			if err := json.Unmarshal(raw, &message); err != nil {
				log.Fatal(err)
			}
			result.Reported = append(result.Reported, message.MessageId)
		}
	}
	for n := 0; n < calls; n++ {
		err := client.Track(&analytics.Track{
			UserId: fmt.Sprintf("u-%d", n%100), Event: "Counted", MessageId: fmt.Sprintf("m-%d", n),
			Properties: map[string]interface{}{"n": n},
		})
		if err == nil {
			result.Accepted++
		} else {
			result.RefusedByCall++
		}
	}
	var unsent *analytics.UnsentError
	if errors.As(client.Close(), &unsent) {
		result.Unsent = unsent.Reported
	}
	result.Left = goroutinesLeft()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err == nil {
		result.PeakMegabytes = float64(usage.Maxrss) / 1024
	}
	return result
}

// goroutinesLeft lists the goroutines beside this one. Those of a connection that was closed take a moment to end.
func goroutinesLeft() []string {
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if runtime.NumGoroutine() == 1 {
			return []string{}
		}
	}
	stacks := make([]byte, 1<<16)
	return []string{string(stacks[:runtime.Stack(stacks, true)])}
}
