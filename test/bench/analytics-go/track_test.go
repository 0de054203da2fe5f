// What a Track call costs with this project's Go library and with the public one, version 3, side by side: the same calls, the same
// batch size, and a transport that takes every request immediately, so that neither network nor server is measured.
//
// Both work in the background too, so two numbers count: ns/op is the time until b.N calls have returned, and cpu-ns/op the processor
// time of the whole process until all of them are sent.
package bench

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"

	tailrace "github.com/tailrace/tailrace/packages/analytics-go/v2"
	segment "gopkg.in/segmentio/analytics-go.v3"
)

const batchSize = 250

// taker is a service without a network.
type taker struct{}

func (taker) RoundTrip(request *http.Request) (*http.Response, error) {
	_, err := io.Copy(io.Discard, request.Body)
	request.Body.Close()
	body := io.NopCloser(strings.NewReader(`{"success":true}`))
	return &http.Response{StatusCode: http.StatusOK, Body: body, Request: request}, err
}

// A library is one call, and the end of the client.
type library struct {
	track func() error
	close func() error
}

var libraries = map[string]func(*testing.B, map[string]interface{}) library{
	"tailrace": func(_ *testing.B, properties map[string]interface{}) library {
		client := tailrace.New("wk_bench")
		client.FlushAt = batchSize
		client.Client.Transport = taker{}
		track := func() error {
			return client.Track(&tailrace.Track{UserId: "ada", Event: "Order Completed", Properties: properties})
		}
		return library{track: track, close: client.Close}
	},
	"segment-v3": func(b *testing.B, properties map[string]interface{}) library {
		client, err := segment.NewWithConfig("wk_bench", segment.Config{BatchSize: batchSize, Transport: taker{}})
		if err != nil {
			b.Fatal(err)
		}
		track := func() error {
			return client.Enqueue(segment.Track{UserId: "ada", Event: "Order Completed", Properties: properties})
		}
		return library{track: track, close: client.Close}
	},
}

var payloads = map[string]map[string]interface{}{
	"none": nil,
	"few":  {"total": 12.5, "currency": "USD", "coupon": false},
	"order": {
		"orderId": "50314b8e9bcf000000000000", "total": 27.5, "currency": "USD", "coupon": false,
		"products": []interface{}{
			map[string]interface{}{"sku": "45790-32", "name": "Monopoly: 3rd Edition", "price": 19.0, "quantity": 1},
			map[string]interface{}{"sku": "46493-32", "name": "Uno Card Game", "price": 3.0, "quantity": 2},
		},
	},
}

func BenchmarkTrack(b *testing.B) {
	for _, payload := range []string{"none", "few", "order"} {
		for _, goroutines := range []int{1, 100} {
			for _, name := range []string{"tailrace", "segment-v3"} {
				b.Run(fmt.Sprintf("properties=%s/goroutines=%d/%s", payload, goroutines, name), func(b *testing.B) {
					measure(b, libraries[name](b, payloads[payload]), goroutines)
				})
			}
		}
	}
}

func measure(b *testing.B, l library, goroutines int) {
	b.ReportAllocs()
	cpu := processorTime(b)
	b.ResetTimer()
	var running sync.WaitGroup
	for g := 0; g < goroutines; g++ {
		calls := b.N / goroutines
		if g < b.N%goroutines {
			calls++
		}
		running.Add(1)
		go func() {
			defer running.Done()
			for n := 0; n < calls; n++ {
				if err := l.track(); err != nil {
					b.Error(err)
					return
				}
			}
		}()
	}
	running.Wait()
	b.StopTimer()
	if err := l.close(); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(processorTime(b)-cpu)/float64(b.N), "cpu-ns/op")
}

// processorTime of this process, in nanoseconds.
func processorTime(b *testing.B) int64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return usage.Utime.Nano() + usage.Stime.Nano()
}
