// A webhook receiver that verifies the signature, with nothing but the standard library.
package main

import (
	"crypto/hmac"
	"crypto/sha1"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"time"
)

// The largest webhook holds one event, which has at most 68 KB, and JSON around it.
const maxBodyBytes = 256 * 1024

func isSigned(secret string, body []byte, header string) bool {
	mac := hmac.New(sha1.New, []byte(secret))
	mac.Write(body)
	return hmac.Equal([]byte(hex.EncodeToString(mac.Sum(nil))), []byte(header))
}

func receive(secret string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		// The signature is of the bytes as received, so it is checked before they are parsed.
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBodyBytes))
		if err != nil {
			w.WriteHeader(http.StatusRequestEntityTooLarge)
			return
		}
		if !isSigned(secret, body, r.Header.Get("X-Signature")) {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		var event struct {
			Type string `json:"type"`
		}
		if err := json.Unmarshal(body, &event); err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		// Answer within five seconds; longer work belongs in a queue. The same webhook may arrive more than once.
		w.WriteHeader(http.StatusNoContent)
		fmt.Printf("received %s\n", event.Type)
	}
}

func main() {
	secret, port := os.Getenv("WEBHOOK_SECRET"), os.Getenv("PORT")
	// Anyone can sign with an empty key.
	if secret == "" {
		log.Fatal("Set WEBHOOK_SECRET to the shared secret of the destination.")
	}
	if port == "" {
		port = "9000"
	}
	listener, err := net.Listen("tcp", "127.0.0.1:"+port)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("listening on http://%s\n", listener.Addr())
	server := &http.Server{Handler: receive(secret), ReadTimeout: 10 * time.Second}
	log.Fatal(server.Serve(listener))
}
