import Testing

/// Everything here goes over real sockets. One test at a time: each turns its own loop, and times are looked at.
@Suite("Transport, live", .serialized)
enum LiveTests {}
