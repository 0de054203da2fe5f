// A function that is frozen between its calls, as those of many clouds: it flushes before each response, because nothing
// runs after it. It imitates such a service with a line of standard input for each call.
//
//	echo ada | go run ./examples/serverless http://localhost:8080 wk_demo
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"time"

	analytics "github.com/tailrace/tailrace/packages/analytics-go/v2"
)

// One client for all calls of the function: it keeps its connection.
var client *analytics.Client

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: serverless <endpoint> <write key>")
	}
	client = analytics.New(os.Args[2])
	client.Endpoint = os.Args[1]
	// A timer does not run while the function is frozen: Flush sends everything.
	client.FlushAfter = time.Hour
	client.Client.Timeout = 2 * time.Second

	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		response, err := handle(ctx, lines.Text())
		cancel()
		fmt.Println(response, err)
	}
	// A service that reports its shutdown leaves time to close.
	if err := errors.Join(lines.Err(), client.Close()); err != nil {
		log.Fatal(err)
	}
}

// handle is the function. A call that could not be sent in time remains queued, and the next Flush sends it, if the process
// lives until then.
func handle(ctx context.Context, user string) (string, error) {
	if err := client.TrackContext(ctx, &analytics.Track{UserId: user, Event: "Function Called"}); err != nil {
		return "", err
	}
	return "hello " + user, client.FlushContext(ctx)
}
