package analytics_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	analytics "github.com/tailrace/tailrace/packages/analytics-go/v2"
)

// newService imitates Tailrace: it accepts every request, and prints the number of calls.
func newService() *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Printf("%s %s: %d calls\n", r.Method, r.URL.Path, strings.Count(string(body), `"messageId"`))
	}))
}

func Example() {
	service := newService()
	defer service.Close()

	client := analytics.New("wk_demo")
	client.Endpoint = service.URL

	user := "ada"
	_ = client.Identify(&analytics.Identify{
		UserId: user,
		Traits: map[string]interface{}{"email": "ada@example.com"},
	})
	_ = client.Track(&analytics.Track{
		UserId:     user,
		Event:      "Order Completed",
		Properties: map[string]interface{}{"total": 12.5},
	})
	if err := client.Close(); err != nil {
		fmt.Println(err)
	}
	// Output: POST /v1/batch: 2 calls
}

// The error names the invalid field.
func ExampleFieldError() {
	client := analytics.New("wk_demo")
	defer client.Close()

	err := client.Track(&analytics.Track{UserId: "ada"})
	var field *analytics.FieldError
	if errors.As(err, &field) {
		fmt.Println(field.Type, field.Field)
	}
	fmt.Println(err)
	// Output:
	// Track Event
	// analytics: Track.Event is required
}

// Past events are imported with their time.
func ExampleTrack_historicalImport() {
	service := newService()
	defer service.Close()
	client := analytics.New("wk_demo")
	client.Endpoint = service.URL

	_ = client.Track(&analytics.Track{
		UserId:    "ada",
		Event:     "Order Completed",
		Timestamp: "2014-02-03T04:05:06Z",
	})
	fmt.Println(client.Close())
	// Output:
	// POST /v1/batch: 1 calls
	// <nil>
}

// A call goes to all destinations by default.
func ExampleTrack_integrations() {
	service := newService()
	defer service.Close()
	client := analytics.New("wk_demo")
	client.Endpoint = service.URL

	_ = client.Track(&analytics.Track{
		UserId:       "ada",
		Event:        "Order Completed",
		Integrations: map[string]interface{}{"All": false, "Webhooks": true},
	})
	fmt.Println(client.Close())
	// Output:
	// POST /v1/batch: 1 calls
	// <nil>
}

// Unsent messages can be stored.
func ExampleClient_onError() {
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
	}))
	defer service.Close()

	client := analytics.New("wk_unknown")
	client.Endpoint = service.URL
	client.OnError = func(err *analytics.SendError) {
		fmt.Println(err.Reason, err.Status, len(err.Messages))
	}
	_ = client.Track(&analytics.Track{UserId: "ada", Event: "Order Completed"})
	fmt.Println(client.Close())
	// Output:
	// refused 401 1
	// analytics: messages could not be sent: 1 reported, 0 refused by the call, 0 kept in files
}

// Larger, less frequent, compressed requests for a server with many calls.
func ExampleClient() {
	client := analytics.New("wk_demo")
	client.FlushAt = 200
	client.FlushAfter = 10 * time.Second
	client.Gzip = true
	client.Context = map[string]interface{}{"app": map[string]interface{}{"name": "Shop", "version": "1.2"}}
	fmt.Println(client.Close())
	// Output: <nil>
}

// A receiver of webhooks verifies the received bytes before it parses them.
func ExampleVerifySignature() {
	receive := func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 256*1024))
		if err != nil || !analytics.VerifySignature("s3cret", body, r.Header.Get("X-Signature")) {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		fmt.Printf("received %s\n", body)
	}

	request := httptest.NewRequest(http.MethodPost, "/hook", strings.NewReader(`{}`))
	request.Header.Set("X-Signature", "e7e0225292f975eab7d48999ea520020ef91b18d")
	receive(httptest.NewRecorder(), request)
	// Output: received {}
}

// A program that takes a Tracker can be tested without a service. Invalid messages are still errors.
func ExampleNoop() {
	signUp := func(tracker analytics.Tracker, user string) error {
		return tracker.Track(&analytics.Track{UserId: user, Event: "Signed Up"})
	}
	fmt.Println(signUp(analytics.Noop{}, "ada"))
	fmt.Println(signUp(analytics.Noop{}, ""))
	// Output:
	// <nil>
	// analytics: Track.UserId is required where there is no AnonymousId
}

// A middleware adds to, redacts or drops calls.
func ExampleMiddleware() {
	service := newService()
	defer service.Close()
	client := analytics.New("wk_demo")
	client.Endpoint = service.URL
	client.Middleware = []analytics.Middleware{func(call *analytics.Call) bool {
		delete(call.Properties, "creditCard")
		return call.UserId != "test-user"
	}}
	for _, user := range []string{"ada", "test-user"} {
		_ = client.Track(&analytics.Track{
			UserId:     user,
			Event:      "Order Completed",
			Properties: analytics.NewProperties().SetTotal(12.5).Set("creditCard", "4111"),
		})
	}
	fmt.Println(client.Close(), client.Stats().Dropped)
	// Output:
	// POST /v1/batch: 1 calls
	// <nil> 1
}

// A request that is over does not wait for capacity.
func ExampleClient_TrackContext() {
	service := newService()
	defer service.Close()
	client := analytics.New("wk_demo")
	client.Endpoint = service.URL
	http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := client.TrackContext(r.Context(), &analytics.Track{UserId: "ada", Event: "Page Loaded"}); err != nil {
			fmt.Println(err)
		}
		w.WriteHeader(http.StatusNoContent)
	}).ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil))
	fmt.Println(client.Close())
	// Output:
	// POST /v1/batch: 1 calls
	// <nil>
}
