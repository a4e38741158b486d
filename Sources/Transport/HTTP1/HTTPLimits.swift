/// Bounds of an HTTP/1.1 peer. Sizes in bytes, times in nanoseconds, the rest as counts.
public struct HTTPLimits: Sendable {
  /// Request or status line together with the header fields. Browsers send about 1 KiB; 32 KiB is what
  /// the larger of the common servers take.
  public var head = 32 << 10
  /// Header fields of one message, and the trailer fields of a chunked one.
  public var fields = 100
  /// Body. What people and programs say to a console takes some hundred bytes, pushes end at 5 KiB; a server that takes more of
  /// some requests says so itself (`HTTPServer`, `bodyLimit`).
  public var body = 64 << 10
  /// Bytes that may wait behind the request being answered, so that a pipelining client can't fill memory.
  public var pipelined = 64 << 10
  /// Bytes of answers that a client has not read yet; a stream that passes it is cut off.
  public var unread = 16 << 20
  /// From the first byte of a request to its last, so that a dribbling client can't hold a connection.
  public var requestTime: Int64 = 30_000_000_000
  /// Between requests on a kept connection.
  public var idleTime: Int64 = 120_000_000_000
  /// Without any progress while an answer is being written.
  public var stallTime: Int64 = 60_000_000_000
  /// Open connections of one server that may ask for anything.
  public var connections = 1024
  /// Connections beyond those, each for one request that must be answered however full the server is
  /// (`HTTPExchange.isOnReserve`). With 0 whoever comes waits in the kernel's queue.
  public var reserve = 32
  /// For a request on such a connection. A client that has connected sends at once; this allows for a slow network.
  public var reserveTime: Int64 = 5_000_000_000

  public init() {}
}
