// A web server that tracks its orders, and sends everything before it ends, also on SIGTERM.
//
//	go run ./examples/server 127.0.0.1:8090 http://localhost:8080 wk_demo
//	curl -d ada http://127.0.0.1:8090/orders
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	analytics "github.com/tailrace/tailrace/packages/analytics-go/v2"
)

func main() {
	if len(os.Args) != 4 {
		log.Fatal("usage: server <address> <endpoint> <write key>")
	}
	if err := run(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		log.Fatal(err)
	}
}

func run(address, endpoint, writeKey string) error {
	// Kubernetes sends SIGTERM, and ends the process after terminationGracePeriodSeconds, by default 30.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()

	client := analytics.New(writeKey)
	client.Endpoint = endpoint
	client.Slog = slog.Default()
	client.DrainTimeout = 15 * time.Second

	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	fmt.Printf("listening on http://%s/orders\n", listener.Addr())
	server := &http.Server{Handler: handler(client)}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	select {
	case err = <-failed:
	case <-ctx.Done():
		// The requests end first, because they make calls.
		deadline, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		err = server.Shutdown(deadline)
	}
	return errors.Join(err, client.Close())
}

// handler takes an interface, so that a test can pass analytics.Noop{}.
func handler(tracker analytics.Tracker) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/orders", func(w http.ResponseWriter, r *http.Request) {
		user, err := io.ReadAll(io.LimitReader(r.Body, 100))
		if err != nil || len(user) == 0 {
			http.Error(w, "The body is the id of the user.", http.StatusBadRequest)
			return
		}
		// Where the queue is full, the call waits no longer than the request, and never longer than 50 ms.
		ctx, cancel := context.WithTimeout(r.Context(), 50*time.Millisecond)
		defer cancel()
		err = tracker.TrackContext(ctx, &analytics.Track{
			UserId:     string(user),
			Event:      "Order Completed",
			Properties: analytics.NewProperties().SetTotal(12.5).SetCurrency("EUR"),
			Context:    map[string]interface{}{"userAgent": r.UserAgent()},
		})
		if err != nil {
			slog.Warn("order not tracked", "error", err)
		}
		w.WriteHeader(http.StatusNoContent)
	})
	return mux
}
