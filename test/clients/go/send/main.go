// Sends tracking calls to Tailrace: one of each kind, or the calls that link an anonymous visitor to a known user.
//
//	go run ./send http://localhost:8080 wk_demo kinds
//	go run ./send http://localhost:8080 wk_demo alias
package main

import (
	"errors"
	"log"
	"os"

	analytics "github.com/tailrace/tailrace/packages/analytics-go/v2"
)

func main() {
	if len(os.Args) != 4 {
		log.Fatal("usage: send <endpoint> <write key> kinds|alias")
	}
	client := analytics.New(os.Args[2])
	client.Endpoint = os.Args[1]
	client.OnError = func(err *analytics.SendError) { log.Print(err) }

	send := sendKinds
	if os.Args[3] == "alias" {
		send = sendAlias
	}
	// Close sends the queued messages. It returns an error if some could not be sent.
	if err := errors.Join(send(client), client.Close()); err != nil {
		log.Fatal(err)
	}
}

func sendKinds(client *analytics.Client) error {
	const user = "ada"
	return errors.Join(
		client.Identify(&analytics.Identify{UserId: user, Traits: map[string]interface{}{"email": "ada@example.com"}}),
		client.Track(&analytics.Track{
			UserId:     user,
			Event:      "Order Completed",
			Properties: map[string]interface{}{"total": 12.5},
		}),
		client.Page(&analytics.Page{
			UserId:   user,
			Category: "Help",
			Name:     "Docs",
			Traits:   map[string]interface{}{"path": "/docs"},
		}),
		client.Screen(&analytics.Screen{UserId: user, Name: "Start", Properties: map[string]interface{}{"tab": "search"}}),
		client.Group(&analytics.Group{UserId: user, GroupId: "acme", Traits: map[string]interface{}{"name": "Acme"}}),
		client.Alias(&analytics.Alias{UserId: user, PreviousId: "anonymous-7"}),
	)
}

// sendAlias tracks with the old id, links it to the new one, and tracks with the new id. The calls arrive in this
// order.
func sendAlias(client *analytics.Client) error {
	const anonymous, user = "anonymous-7", "ada"
	return errors.Join(
		client.Track(&analytics.Track{AnonymousId: anonymous, Event: "Cart Filled"}),
		client.Alias(&analytics.Alias{PreviousId: anonymous, UserId: user}),
		client.Identify(&analytics.Identify{UserId: user, Traits: map[string]interface{}{"plan": "pro"}}),
		client.Track(&analytics.Track{UserId: user, Event: "Order Completed"}),
	)
}
