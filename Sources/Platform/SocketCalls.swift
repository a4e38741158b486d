import CLibrary

/// Sockets by their descriptors.
public enum SocketCalls {
  /// `errno` of the last failed call.
  public static var lastError: Int32 { errno }

  /// The system's sentence for an error number.
  public static func sentence(_ error: Int32) -> String { unsafe String(cString: strerror(error)) }

  /// What an error calls it that nobody may listen there.
  public static let listening = "listen on"

  /// Opens a socket that listens; `backlog` clients may wait until they are accepted.
  public static func listen(_ address: SocketAddress, backlog: Int32) throws -> Int32 {
    try open(address, listening) { descriptor, address in
      setOption(descriptor, SOL_SOCKET, SO_REUSEADDR, 1)
      return address.bind(descriptor) && CLibrary.listen(descriptor, backlog) == 0
    }
  }

  /// Opens a socket that begins to connect, and is writable once it has (`pendingError`).
  public static func connect(_ address: SocketAddress) throws -> Int32 {
    try open(address, "connect to") { descriptor, address in
      setNoDelay(descriptor)
      return address.connect(descriptor)
    }
  }

  private static func open(
    _ address: SocketAddress, _ operation: String,
    _ prepare: (Int32, SystemAddress) -> Bool
  ) throws -> Int32 {
    // There is at least one.
    let first = try SystemAddress.all(of: address)[0]
    let descriptor = makeStreamSocket(first.family)
    guard descriptor >= 0 else { throw SocketError.last("open a socket for", address.description) }
    guard prepare(descriptor, first) else {
      let error = SocketError.last(operation, address.description)
      close(descriptor)
      throw error
    }
    return descriptor
  }

  /// Takes the next client that waits, on a socket that never blocks and sends small writes at once; nil if there is none, or it
  /// can't be had.
  public static func accept(_ listening: Int32) -> Int32? {
    let descriptor = CLibrary.accept(listening, nil, nil)
    guard descriptor >= 0 else { return nil }
    makeNonBlocking(descriptor)
    setNoDelay(descriptor)
    return descriptor
  }

  /// Whether the last call failed because this process or the system has no descriptors or memory left.
  public static var isExhausted: Bool { [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(errno) }

  /// Whether the last read or write only has to be tried again, when the socket is ready.
  @inline(__always)
  public static var isUnready: Bool { errno == EAGAIN || errno == EINTR }

  public static func close(_ descriptor: Int32) { _ = CLibrary.close(descriptor) }

  /// Tells the peer that nothing more comes.
  public static func endOutput(_ descriptor: Int32) { _ = shutdown(descriptor, Int32(SHUT_WR)) }

  /// Reads what has come; answers how many bytes, 0 if the peer has ended its side, -1 for a failure.
  @inline(__always)
  public static func receive(_ descriptor: Int32, into room: inout [UInt8]) -> Int {
    unsafe recv(descriptor, &room, room.count, 0)
  }

  #if canImport(Darwin)
    static let streamKind = SOCK_STREAM
  #else
    static let streamKind = Int32(SOCK_STREAM.rawValue)
  #endif

  /// Makes a stream socket that never blocks and is not inherited.
  private static func makeStreamSocket(_ family: Int32) -> Int32 {
    let descriptor = socket(family, streamKind, 0)
    if descriptor >= 0 { makeNonBlocking(descriptor) }
    return descriptor
  }

  /// Sets O_NONBLOCK and FD_CLOEXEC.
  static func makeNonBlocking(_ descriptor: Int32) {
    _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
  }

  /// Sends small writes at once.
  private static func setNoDelay(_ descriptor: Int32) {
    setOption(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, 1)
  }

  /// Acknowledges what has come now and not some 40 ms later; nothing where the system has no such call.
  public static func acknowledgeAtOnce(_ descriptor: Int32) {
    #if os(Linux)
      setOption(descriptor, Int32(IPPROTO_TCP), TCP_QUICKACK, 1)
    #endif
  }

  /// Closes with a reset instead of an orderly end.
  public static func setResetOnClose(_ descriptor: Int32) {
    var value = linger(l_onoff: 1, l_linger: 0)
    unsafe setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &value, socklen_t(MemoryLayout<linger>.size))
  }

  /// Asks for a kernel receive buffer of `bytes`.
  public static func setReceiveBuffer(_ descriptor: Int32, bytes: Int32) {
    setOption(descriptor, SOL_SOCKET, SO_RCVBUF, bytes)
  }

  /// Has the system take no more of a stream socket's output than about so many bytes that it can't send, as the peer's buffer is
  /// full. Without it Linux takes up to 4 MiB.
  public static func setUnsentLimit(_ descriptor: Int32, bytes: Int32) {
    setOption(descriptor, Int32(IPPROTO_TCP), TCP_NOTSENT_LOWAT, bytes)
  }

  /// Bytes of a stream socket that the system has taken and not yet sent, because the peer's is full: they are lost if
  /// this process dies while it has input that it has not read, as the system then resets the connection.
  public static func unsentBytes(_ descriptor: Int32) -> Int {
    var value: Int32 = 0
    #if canImport(Darwin)
      var size = socklen_t(MemoryLayout<Int32>.size)
      return unsafe getsockopt(descriptor, SOL_SOCKET, SO_NWRITE, &value, &size) == 0 ? Int(value) : 0
    #else
      return unsafe ioctl(descriptor, outputNotSent, &value) == 0 ? Int(value) : 0
    #endif
  }

  /// `SIOCOUTQNSD` of `linux/sockios.h`, which is not among the C library's headers.
  private static let outputNotSent: UInt = 0x894b

  /// Whether the peer has ended its side, also if what it sent before was not read.
  public static func peerIsGone(_ descriptor: Int32) -> Bool {
    #if canImport(Darwin)
      var byte: UInt8 = 0
      return unsafe recv(descriptor, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0
    #else
      let fatal = Int16(POLLERR) | Int16(POLLHUP) | Int16(peerHasEnded)
      return DescriptorCalls.poll(descriptor, for: peerHasEnded, within: 0) & fatal != 0
    #endif
  }

  /// `POLLRDHUP`, which the C library hides from strict programs.
  private static let peerHasEnded: Int32 = 0x2000

  /// A pending asynchronous error of the socket, 0 if none.
  public static func pendingError(_ descriptor: Int32) -> Int32 {
    var value: Int32 = 0
    var size = socklen_t(MemoryLayout<Int32>.size)
    return unsafe getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &value, &size) == 0 ? value : errno
  }

  /// Raises the limit of open files to what the system allows this process, and answers it; nil if the system does not say.
  @discardableResult
  public static func raiseOpenFileLimit() -> Int? {
    var limit = rlimit()
    #if canImport(Glibc)
      let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
      let resource = RLIMIT_NOFILE
    #endif
    guard unsafe getrlimit(resource, &limit) == 0 else { return nil }
    let allowed = limit.rlim_cur
    if limit.rlim_cur < limit.rlim_max {
      limit.rlim_cur = limit.rlim_max
      if unsafe setrlimit(resource, &limit) != 0 { limit.rlim_cur = allowed }
    }
    return Int(clamping: limit.rlim_cur)
  }

  private static func setOption(_ descriptor: Int32, _ level: Int32, _ name: Int32, _ value: Int32) {
    var value = value
    unsafe setsockopt(descriptor, level, name, &value, socklen_t(MemoryLayout<Int32>.size))
  }

  /// Writes to a socket; a peer that is gone gives EPIPE, never the signal that ends a process.
  public static func send(_ descriptor: Int32, _ bytes: Span<UInt8>) -> Int {
    #if canImport(Darwin)
      setOption(descriptor, SOL_SOCKET, SO_NOSIGPIPE, 1)
      let flags: Int32 = 0
    #else
      let flags = Int32(MSG_NOSIGNAL)
    #endif
    return unsafe bytes.withUnsafeBytes { unsafe CLibrary.send(descriptor, $0.baseAddress, $0.count, flags) }
  }
}
