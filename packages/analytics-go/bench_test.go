package analytics

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
)

// The cost of a call for its caller, with a service that accepts everything. test/bench/analytics-go compares it with
// the public library.

func benchmarkClient(b *testing.B) *Client {
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
	}))
	b.Cleanup(server.Close)
	client := New("wk_test")
	client.Endpoint = server.URL
	b.ReportAllocs()
	b.ResetTimer()
	b.Cleanup(func() {
		if err := client.Close(); err != nil {
			b.Error(err)
		}
	})
	return client
}

func order() map[string]interface{} {
	return map[string]interface{}{
		"orderId":  "50314b8e9bcf000000000000",
		"total":    27.5,
		"currency": "USD",
		"coupon":   false,
		"products": []interface{}{
			map[string]interface{}{"sku": "45790-32", "name": "Monopoly: 3rd Edition", "price": 19.0, "quantity": 1},
			map[string]interface{}{"sku": "46493-32", "name": "Uno Card Game", "price": 3.0, "quantity": 2},
		},
	}
}

func BenchmarkTrack(b *testing.B) {
	client, properties := benchmarkClient(b), order()
	for n := 0; n < b.N; n++ {
		if err := client.Track(&Track{UserId: "ada", Event: "Order Completed", Properties: properties}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkTrackWithoutProperties(b *testing.B) {
	client := benchmarkClient(b)
	for n := 0; n < b.N; n++ {
		if err := client.Track(&Track{UserId: "ada", Event: "Order Completed"}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkTrackInParallel(b *testing.B) {
	client, properties := benchmarkClient(b), order()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if err := client.Track(&Track{UserId: "ada", Event: "Order Completed", Properties: properties}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkEncode(b *testing.B) {
	e := newEncoder()
	message := &Track{UserId: "ada", Event: "Order Completed", Properties: order()}
	b.ReportAllocs()
	for n := 0; n < b.N; n++ {
		if err := e.encode(ref(message.call())); err != nil {
			b.Fatal(err)
		}
	}
}
