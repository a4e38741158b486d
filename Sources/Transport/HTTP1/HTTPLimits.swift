/// Bounds of an HTTP/1.1 peer. Sizes in bytes, times in nanoseconds, the rest as counts.
package struct HTTPLimits: Sendable {
  /// Request or status line together with the header fields. Browsers send about 1 KiB; 32 KiB is what
  /// the larger of the common servers take.
  package var head = 32 << 10
  /// Header fields of one message, and the trailer fields of a chunked one.
  package var fields = 100
  /// Body. What people and programs say to a console takes some hundred bytes, pushes end at 5 KiB; a server that takes more of
  /// some requests says so itself (`HTTPServer`, `bodyLimit`).
  package var body = 64 << 10
  /// Bytes that may wait behind the request being answered, so that a pipelining client can't fill memory.
  package var pipelined = 64 << 10
  /// Bytes of answers that a client has not read yet; a stream that passes it is cut off.
  package var unread = 16 << 20
  /// From the first byte of a request to its last, so that a dribbling client can't hold a connection.
  package var requestTime: Int64 = 30_000_000_000
  /// Between requests on a kept connection.
  package var idleTime: Int64 = 120_000_000_000
  /// Without any progress while an answer is being written.
  package var stallTime: Int64 = 60_000_000_000
  /// Open connections of one server that may ask for anything.
  package var connections = 1024
  /// Connections beyond those, each for one request that must be answered however full the server is
  /// (`HTTPExchange.isOnReserve`). With 0 whoever comes waits in the kernel's queue.
  package var reserve = 32
  /// For a request on such a connection. A client that has connected sends at once; this allows for a slow network.
  package var reserveTime: Int64 = 5_000_000_000

  package init() {}
}
