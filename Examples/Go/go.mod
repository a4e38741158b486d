module example.com/sender

go 1.19
