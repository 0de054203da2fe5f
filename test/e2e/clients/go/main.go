// Sends one call of each kind with the public Go client, version 3. Arguments: the URL of ingest, and a write key.
package main

import (
	"fmt"
	"os"

	analytics "gopkg.in/segmentio/analytics-go.v3"
)

// failures counts the messages that the client failed to send, so that the exit code can be 1.
type failures struct{ count int }

func (f *failures) Success(analytics.Message) {}

func (f *failures) Failure(message analytics.Message, err error) {
	f.count++
	fmt.Fprintf(os.Stderr, "%T: %v\n", message, err)
}

func main() {
	failed := &failures{}
	client, err := analytics.NewWithConfig(os.Args[2], analytics.Config{Endpoint: os.Args[1], Callback: failed})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	messages := []analytics.Message{
		analytics.Identify{UserId: "ada", Traits: analytics.NewTraits().SetEmail("ada@example.com")},
		analytics.Track{
			UserId:     "ada",
			Event:      "Order Completed",
			Properties: analytics.NewProperties().Set("total", 12.5),
		},
		analytics.Page{UserId: "ada", Name: "Docs", Properties: analytics.NewProperties().SetPath("/docs")},
		analytics.Screen{UserId: "ada", Name: "Start", Properties: analytics.NewProperties().Set("tab", "search")},
		analytics.Group{UserId: "ada", GroupId: "acme", Traits: analytics.NewTraits().SetName("Acme")},
		analytics.Alias{UserId: "ada", PreviousId: "anonymous-7"},
	}
	for _, message := range messages {
		if err := client.Enqueue(message); err != nil {
			failed.Failure(message, err)
		}
	}
	if err := client.Close(); err != nil || failed.count > 0 {
		fmt.Fprintln(os.Stderr, "the client reports failures", err)
		os.Exit(1)
	}
}
