module tailrace.example/receiver

go 1.21
