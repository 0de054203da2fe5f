// A worker that imports events, one JSON object {"user", "event", "at", "properties"} in each line of standard input. Its queue
// is also in files: after a crash, the next run sends what is left. A middleware removes a property.
//
//	go run ./examples/worker http://localhost:8080 wk_demo /tmp/import-queue < events.ndjson
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"time"

	analytics "github.com/tailrace/tailrace/packages/analytics-go/v2"
)

type event struct {
	ID         string
	User       string
	Event      string
	At         time.Time
	Properties map[string]interface{}
}

func main() {
	if len(os.Args) != 4 {
		log.Fatal("usage: worker <endpoint> <write key> <folder>")
	}
	client := analytics.New(os.Args[2])
	client.Endpoint = os.Args[1]
	client.QueueDir = os.Args[3]
	client.FlushAt = 500
	client.Gzip = true
	// Longer than an outage that the import should wait for.
	client.MaxAge = 24 * time.Hour
	client.DrainTimeout = time.Minute
	client.Middleware = []analytics.Middleware{func(call *analytics.Call) bool {
		delete(call.Properties, "creditCard")
		return call.Event != "Health Checked"
	}}
	unsent, err := os.OpenFile("unsent.ndjson", os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		log.Fatal(err)
	}
	client.OnError = func(err *analytics.SendError) {
		log.Print(err)
		for _, message := range err.Messages {
			fmt.Fprintf(unsent, "%s\n", message)
		}
	}
	err = errors.Join(importAll(client, os.Stdin), client.Close(), unsent.Close())
	fmt.Printf("%+v\n", client.Stats())
	if err != nil {
		log.Fatal(err)
	}
}

// importAll is as fast as the service: a call waits while the queue is full.
func importAll(client *analytics.Client, input io.Reader) error {
	decoder := json.NewDecoder(input)
	// Numbers keep their digits, also those above 2^53.
	decoder.UseNumber()
	for {
		var e event
		if err := decoder.Decode(&e); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		message := &analytics.Track{UserId: e.User, Event: e.Event, Properties: e.Properties}
		// With an id of its own, an event that is imported twice counts once.
		message.MessageId = e.ID
		if !e.At.IsZero() {
			message.Timestamp = e.At.Format(time.RFC3339Nano)
		}
		if err := client.Track(message); err != nil {
			log.Printf("%+v: %v", e, err)
		}
	}
}
