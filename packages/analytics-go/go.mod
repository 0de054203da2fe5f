module github.com/tailrace/tailrace/packages/analytics-go

go 1.21
