module tailrace/test/bench/analytics-go

go 1.21

require (
	github.com/tailrace/tailrace/packages/analytics-go/v2 v2.0.0
	gopkg.in/segmentio/analytics-go.v3 v3.1.0
)

require (
	github.com/segmentio/backo-go v1.1.0 // indirect
	github.com/xtgo/uuid v0.0.0-20140804021211-a0b114877d4c // indirect
)

replace github.com/tailrace/tailrace/packages/analytics-go/v2 => ../../../packages/analytics-go
