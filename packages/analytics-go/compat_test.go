package analytics_test

import (
	"log"
	"net/http"
	"os"
	"time"

	analytics "github.com/tailrace/tailrace/packages/analytics-go/v2"
)

// Code for version 2 of the public library, with every name that MIGRATION.md does not exclude. It only has to compile.
var _ = func() error {
	var client *analytics.Client = analytics.New("h97jamjwbh")
	client.Endpoint = analytics.Endpoint
	client.Interval = 30 * time.Second
	client.Size = 100
	client.Verbose = true
	client.Logger = log.New(os.Stderr, "segment ", log.LstdFlags)
	client.Client = *http.DefaultClient
	analytics.DefaultContext = map[string]interface{}{"library": map[string]interface{}{"name": "analytics-go", "version": analytics.Version}}

	var problems []error
	problems = append(problems,
		client.Identify(&analytics.Identify{
			Context: map[string]interface{}{}, Integrations: map[string]interface{}{}, Traits: map[string]interface{}{"email": "m@example.com"},
			AnonymousId: "a", UserId: "1", Message: analytics.Message{Type: "identify", MessageId: "m", Timestamp: "t", SentAt: "s"},
		}),
		client.Track(&analytics.Track{
			Context: map[string]interface{}{}, Integrations: map[string]interface{}{}, Properties: map[string]interface{}{"path": "/"},
			AnonymousId: "a", UserId: "1", Event: "Download", Message: analytics.Message{},
		}),
		client.Page(&analytics.Page{
			Context: map[string]interface{}{}, Integrations: map[string]interface{}{}, Traits: map[string]interface{}{"url": "u"},
			AnonymousId: "a", UserId: "1", Category: "c", Name: "n", Message: analytics.Message{},
		}),
		client.Group(&analytics.Group{
			Context: map[string]interface{}{}, Integrations: map[string]interface{}{}, Traits: map[string]interface{}{"name": "n"},
			AnonymousId: "a", UserId: "1", GroupId: "g", Message: analytics.Message{},
		}),
		client.Alias(&analytics.Alias{PreviousId: "p", UserId: "1", Message: analytics.Message{}}),
	)
	track := &analytics.Track{}
	track.Timestamp, track.MessageId = "2014-02-03T04:05:06Z", "m"
	track.Type, track.SentAt = "track", ""
	problems = append(problems, client.Track(track), client.Close())
	return problems[0]
}
