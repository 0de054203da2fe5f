// A receiver of Tailrace's webhooks. It accepts only requests that are signed with the shared secret.
//
//	WEBHOOK_SECRET=s3cret go run ./receiver 127.0.0.1:9000
package main

import (
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"time"

	analytics "github.com/tailrace/tailrace/packages/analytics-go/v2"
)

// The maximum size of a webhook, which contains one call.
const maxBodyBytes = 256 * 1024

func main() {
	secret := os.Getenv("WEBHOOK_SECRET")
	if secret == "" || len(os.Args) != 2 {
		log.Fatal("usage: WEBHOOK_SECRET=<shared secret> receiver <address to listen on>")
	}
	listener, err := net.Listen("tcp", os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("listening on http://%s\n", listener.Addr())
	server := &http.Server{Handler: receive(secret), ReadTimeout: 10 * time.Second}
	log.Fatal(server.Serve(listener))
}

// receive answers quickly, because a webhook without a response within five seconds is sent again. A webhook may also
// be delivered twice, so its processing must be idempotent.
func receive(secret string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		// The signature covers the bytes as received. JSON that was parsed and written again has another signature.
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBodyBytes))
		if err != nil {
			http.Error(w, "the body cannot be read", http.StatusBadRequest)
			return
		}
		if !analytics.VerifySignature(secret, body, r.Header.Get("X-Signature")) {
			http.Error(w, "the signature is not that of the body", http.StatusUnauthorized)
			return
		}
		fmt.Printf("%s\n", body)
		w.WriteHeader(http.StatusNoContent)
	}
}
