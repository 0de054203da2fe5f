// Package analytics sends tracking calls to Tailrace from Go servers.
//
// A client is made once, with the write key of a source, and shared by all goroutines:
//
//	client := analytics.New("wk_demo")
//	client.Endpoint = "https://events.example.com"
//	defer client.Close()
//
//	err := client.Track(&analytics.Track{
//		UserId:     "ada",
//		Event:      "Order Completed",
//		Properties: map[string]interface{}{"total": 12.5},
//	})
//
// A call checks its message, writes it as JSON into a queue in memory and returns, within microseconds. In the background one
// request at a time takes what waits to the service, in the order of the calls, and is tried again until it succeeds.
//
// Each message has exactly one fate. The call refuses it with an error ([FieldError], [ErrTooLarge], [ErrQueueFull],
// [ErrClosed]), or it arrives, at least once, or [Client.OnError] is told why it could not be sent.
//
// Receivers of Tailrace's webhooks check them with [VerifySignature].
package analytics
