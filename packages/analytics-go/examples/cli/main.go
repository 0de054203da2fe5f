// A command that tracks that it was used. Its exit code is 1 if the call did not arrive.
//
//	go run ./examples/cli http://localhost:8080 wk_demo ada "Report Created" format=pdf
package main

import (
	"fmt"
	"os"
	"strings"
	"time"

	analytics "github.com/tailrace/tailrace/packages/analytics-go/v2"
)

func main() {
	if len(os.Args) < 5 {
		fmt.Fprintln(os.Stderr, "usage: cli <endpoint> <write key> <user> <event> [<property>=<value> …]")
		os.Exit(2)
	}
	client := analytics.New(os.Args[2])
	client.Endpoint = os.Args[1]
	// The command does not keep its user waiting for long.
	client.DrainTimeout = 5 * time.Second
	// The reason of each loss. Without OnError it would be in the log.
	client.OnError = func(err *analytics.SendError) { fmt.Fprintln(os.Stderr, err) }

	properties := analytics.NewProperties()
	for _, argument := range os.Args[5:] {
		name, value, _ := strings.Cut(argument, "=")
		properties.Set(name, value)
	}
	if err := client.Track(&analytics.Track{UserId: os.Args[3], Event: os.Args[4], Properties: properties}); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	// Close counts the calls that returned an error too, so its error alone decides.
	if err := client.Close(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
