module github.com/tailrace/tailrace/packages/analytics-go/v2

go 1.21
