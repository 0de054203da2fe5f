module tailrace/test/clients/go

go 1.21

require github.com/tailrace/tailrace/packages/analytics-go/v2 v2.0.0

replace github.com/tailrace/tailrace/packages/analytics-go/v2 => ../../../packages/analytics-go
