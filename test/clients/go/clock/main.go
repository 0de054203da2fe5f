// Makes a call with each of the given timestamps, and one without, and closes the client. Arguments: the endpoint, the write key
// and the timestamps. Prints its clock, in milliseconds since 1970. The same as ../../node-clock.ts.
package main

import (
	"fmt"
	"log"
	"os"
	"time"

	analytics "github.com/tailrace/tailrace/packages/analytics-go/v2"
)

func main() {
	if len(os.Args) < 3 {
		log.Fatal("usage: clock <endpoint> <write key> <timestamps>")
	}
	fmt.Println(time.Now().UnixMilli())
	client := analytics.New(os.Args[2])
	client.Endpoint = os.Args[1]
	for _, timestamp := range os.Args[3:] {
		track(client, &analytics.Track{UserId: "ada", Event: "Imported", Timestamp: timestamp,
			Properties: analytics.Properties{"timestamp": timestamp}})
	}
	track(client, &analytics.Track{UserId: "ada", Event: "Happened"})
	if err := client.Close(); err != nil {
		log.Fatal(err)
	}
}

func track(client *analytics.Client, message *analytics.Track) {
	if err := client.Track(message); err != nil {
		log.Fatal(err)
	}
}
