// Package analytics sends tracking calls to Tailrace from Go servers.
//
// Create one client with the write key of a source, and share it between all goroutines:
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
// A call validates its message, writes it as JSON into a queue in memory and returns within microseconds. When the queue is
// full it waits, or fails ([Client.WhenFull]). In the background, the queued messages are sent in the order of the calls, one
// request at a time. A request is retried until it succeeds, for up to an hour.
//
// Each message has exactly one outcome. The call refuses it with an error ([FieldError], [ErrTooLarge], [ErrQueueFull],
// [ErrNotStored], [ErrClosed]), or a [Middleware] drops it, or it arrives at least once, or it is reported to
// [Client.OnError] as unsent, or it stays in [Client.QueueDir] for the next start. [Client.Close] returns the number of
// those that were not sent.
//
// Receivers of Tailrace's webhooks verify them with [VerifySignature], a [SignatureScheme] or [PublicKeys].
package analytics
