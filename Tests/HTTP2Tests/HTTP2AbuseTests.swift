import Basics
import Testing

@testable import Transport

@Suite("HTTP/2 abuse")
struct HTTP2AbuseTests {
  private func started(_ options: HTTP2Options = HTTP2Options()) throws -> HTTP2ServerSession {
    let session = try #require(HTTP2ServerSession(options: options))
    _ = session.receive(RawFrame.preface + RawFrame.settings + RawFrame.settingsAcknowledgement)
    _ = session.output()
    return session
  }

  /// Whether the session has given the client up.
  private func isOver(_ session: HTTP2ServerSession, _ status: HTTP2ReceiveStatus) -> Bool {
    _ = session.output()
    return status != .taken || session.isFinished
  }

  @Test("a client that opens and resets streams for ever is given up")
  func rapidReset() throws {
    var options = HTTP2Options()
    (options.resetBurst, options.resetsPerSecond) = (20, 1)
    let session = try started(options)
    var ended = false
    for stream in stride(from: UInt32(1), to: 401, by: 2) where !ended {
      let status = session.receive(RawFrame.headers(stream, RawFrame.pseudo) + RawFrame.reset(stream, 8))
      for request in session.takeRequests() { session.respond(to: request, with: HTTP2Response(status: 200)) }
      ended = isOver(session, status)
    }
    #expect(ended)
    #expect(session.openStreams == 0)
  }

  @Test("a client that pings and does not read is given up")
  func pingFlood() throws {
    let session = try started()
    var status = HTTP2ReceiveStatus.taken
    for _ in 0..<2000 where status == .taken { status = session.receive(RawFrame.ping()) }
    guard case .failed(let reason) = status else {
      Issue.record("\(status)")
      return
    }
    #expect(!reason.isEmpty)
    #expect(session.receive(RawFrame.ping()) == status)
    #expect(session.isFinished)
  }

  @Test("a header block without end is given up")
  func continuationFlood() throws {
    let session = try started()
    var status = session.receive(RawFrame.frame(1, 0, 1, RawFrame.block(RawFrame.pseudo)))
    for number in 0..<20 where status == .taken {
      status = session.receive(
        RawFrame.continuation(1, RawFrame.block([("x-\(number)", "y")]), isLast: false))
    }
    #expect(isOver(session, status))
  }

  @Test("a SETTINGS frame with too many entries is given up")
  func settingsFlood() throws {
    let session = try started()
    let entries = (0..<40).flatMap { _ in [UInt8]([0, 4, 0, 0, 255, 255]) }
    #expect(isOver(session, session.receive(RawFrame.frame(4, 0, 0, entries))))
  }

  @Test("a header list made long by references costs no more than its limit")
  func compressionBomb() throws {
    let session = try started()
    // One long value enters the dynamic table, then one-byte references to it (index 62) repeat it.
    let long = [UInt8](repeating: 0x61, count: 3000)
    let insert: [UInt8] = [0x40, 1, 0x78, 0x7f] + [0xb9, 0x16] + long
    let block = RawFrame.block(RawFrame.pseudo) + insert + [UInt8](repeating: 0xbe, count: 1000)
    let status = session.receive(RawFrame.frame(1, RawFrame.endHeaders | RawFrame.endStream, 1, block))
    #expect(status == .taken)
    #expect(session.takeRequests().isEmpty)
    #expect(ReadFrame.all(session.output()).filter { $0.stream == 1 }.map(\.type) == [1, 3])
  }

  /// Frames that cost work and lead to nothing.
  enum Idle: CaseIterable {
    case emptyData, dataOfForgottenStream, windowOfConnection, windowOfStream, priority, settings, ping, pong
    case unknown, unknownOfStream

    var frame: [UInt8] {
      switch self {
      case .emptyData: RawFrame.data(1, [], isLast: false)
      case .dataOfForgottenStream: RawFrame.data(3, [], isLast: false)
      case .windowOfConnection: RawFrame.frame(8, 0, 0, RawFrame.word(1))
      case .windowOfStream: RawFrame.frame(8, 0, 1, RawFrame.word(1))
      case .priority: RawFrame.frame(2, 0, 1, RawFrame.word(0) + [7])
      case .settings: RawFrame.settings
      case .ping: RawFrame.ping()
      case .pong: RawFrame.ping(1)
      case .unknown: RawFrame.frame(0xfa, 0, 0, [])
      case .unknownOfStream: RawFrame.frame(0x40, 0, 1, [])
      }
    }
  }

  /// Time gives nothing back.
  private var strict: HTTP2Options {
    var options = HTTP2Options()
    (options.idleFrames, options.idleFramesPerSecond) = (1000, 0)
    return options
  }

  @Test("a client that sends idle frames without end is told to calm down", arguments: Idle.allCases)
  func idleFrames(_ kind: Idle) throws {
    let session = try started(strict)
    let opened = RawFrame.headers(1, RawFrame.pseudo, flags: RawFrame.endHeaders)
    _ = session.receive(opened)
    // Its header list is too long, so it is answered and reset, and its client has yet to hear of that.
    if kind == .dataOfForgottenStream {
      let field = ("x", String(repeating: "y", count: 9000))
      _ = session.receive(RawFrame.headers(3, RawFrame.pseudo + [field], flags: RawFrame.endHeaders))
    }
    _ = session.output()
    let burst = (0..<10).flatMap { _ in kind.frame }
    var sent = 0
    while !session.isTerminated, session.sentGoAway == nil, sent < 5000 {
      #expect(session.receive(burst) == .taken)
      _ = session.output()
      sent += 10
    }
    #expect(session.sentGoAway?.errorCode == .enhanceYourCalm)
    #expect(session.sentGoAway?.debugData.isEmpty == false)
    #expect(session.isFinished)
    #expect(sent <= 1010)
  }

  @Test("a header list that goes on behind its limit ends the connection, wherever it is cut")
  func compressionBombWithoutEnd() throws {
    let session = try started(strict)
    let long = [UInt8](repeating: 0x61, count: 3000)
    let insert: [UInt8] = [0x40, 1, 0x78, 0x7f] + [0xb9, 0x16] + long
    let block = RawFrame.block(RawFrame.pseudo) + insert + [UInt8](repeating: 0xbe, count: 3000)
    for stream in stride(from: UInt32(1), through: 7, by: 2) where !session.isTerminated {
      _ = session.receive(RawFrame.frame(1, RawFrame.endHeaders | RawFrame.endStream, stream, block))
      _ = session.output()
    }
    #expect(session.isTerminated && session.isFinished)
    #expect(session.sentGoAway?.errorCode == .enhanceYourCalm)
  }

  @Test("bytes that each stand for thousands end the connection before many of them were looked at")
  func costlyFields() throws {
    let session = try started(strict)
    let long = [UInt8](repeating: 0x61, count: 3000)
    let insert: [UInt8] = [0x40, 1, 0x78, 0x7f] + [0xb9, 0x16] + long
    _ = session.receive(RawFrame.headers(1, RawFrame.pseudo, flags: RawFrame.endHeaders | RawFrame.endStream))
    _ = session.receive(
      RawFrame.frame(1, RawFrame.endHeaders | RawFrame.endStream, 3, RawFrame.block(RawFrame.pseudo) + insert)
    )
    _ = session.output()
    #expect(!session.isTerminated)
    // 3001 bytes are worth 12 empty frames, so that 1000 allow some 80 of these fields, and no block of 512 more.
    let flood = [UInt8](repeating: 0xbe, count: 16_000)
    _ = session.receive(RawFrame.frame(1, RawFrame.endHeaders | RawFrame.endStream, 5, flood))
    #expect(session.isTerminated)
    #expect(session.watch.allowance.left >= -12 * HTTP2FrameWatch.usualBlock)
    _ = session.output()
    #expect(session.sentGoAway?.errorCode == .enhanceYourCalm)
  }

  @Test("a header block of 512 bytes is taken as a whole, and what follows a longer one in small pieces")
  func longBlock() throws {
    for (count, isLong) in [(512, false), (513, true)] {
      let session = try started(strict)
      let block = RawFrame.block(RawFrame.pseudo)
      // A literal has three bytes besides its name and value, and a longer length two more (RFC 7541 6.2.2).
      let field = ("x", String(repeating: "y", count: count - block.count - 6))
      let frame = RawFrame.headers(1, RawFrame.pseudo + [field])
      #expect(frame.count == 9 + count)
      _ = session.receive(frame)
      #expect(session.watch.hasSeenLongBlock == isLong && session.takeRequests().count == 1)
    }
  }

  @Test("SETTINGS cost as much as 16 frames, and a field that nobody reads one more for each 256 bytes")
  func prices() throws {
    var options = strict
    options.idleFramesPerRequest = 0
    func price(_ frame: [UInt8], behind first: [UInt8] = []) throws -> Int {
      let session = try started(options)
      _ = session.receive(first)
      let before = session.watch.allowance.left
      _ = session.receive(frame)
      return before - session.watch.allowance.left
    }
    #expect(try price(RawFrame.ping()) == 1 && price(RawFrame.settings) == 16)
    let open = RawFrame.headers(1, RawFrame.pseudo, flags: RawFrame.endHeaders)
    for (count, extra) in [(255, 1), (256, 2), (511, 2), (512, 3)] {
      let trailers = RawFrame.headers(1, [("x", String(repeating: "y", count: count - 1))])
      #expect(try price(trailers, behind: open) == 1 + extra, "\(count) bytes")
    }
  }

  @Test("what waits for use again is 128 requests, each of which counts for 768 bytes")
  func spareRequests() {
    let queue = HTTP2RequestQueue()
    #expect(queue.heldBytes == 0)
    _ = queue.began(1)
    #expect(queue.heldBytes == 768)
    var pool = HTTP2StreamPool<HTTP2Request>()
    let streams = (0..<130).map { pool.checkOut(streamID: $0) }
    #expect(pool.count == 130)
    for stream in streams { pool.checkIn(stream) }
    #expect(pool.count == 128)
  }

  @Test("requests pay for the frames in which they come: a client of many small ones is served on and on")
  func smallFrames() throws {
    let session = try started(strict)
    let update = RawFrame.frame(8, 0, 0, RawFrame.word(1))
    for stream in stride(from: UInt32(1), to: 2001, by: 2) {
      var bytes = RawFrame.headers(stream, RawFrame.pseudo, flags: RawFrame.endHeaders)
      for _ in 0..<60 { bytes += RawFrame.data(stream, [0x20], isLast: false) }
      #expect(session.receive(bytes + RawFrame.data(stream, []) + update) == .taken)
      let requests = session.takeRequests()
      #expect(requests.count == 1)
      for request in requests { session.respond(to: request, with: HTTP2Response(status: 200)) }
      _ = session.output()
    }
    #expect(!session.isFinished)
  }

  @Test("what the library allocates is counted")
  func libraryMemory() throws {
    let memory = HTTP2Memory()
    memory.withFunctions { functions in
      let user = functions.pointee.mem_user_data
      var expected = 0
      func expect(atLeast size: Int) {
        expected = memory.bytes
        #expect((size...size + 200).contains(expected))
      }
      let first = functions.pointee.malloc(100, user)
      expect(atLeast: 100)
      let second = functions.pointee.calloc(7, 11, user)
      expect(atLeast: 177)
      let zeros = UnsafeRawBufferPointer(start: second, count: 77)
      #expect(zeros.allSatisfy { $0 == 0 })
      #expect(functions.pointee.calloc(.max, 2, user) == nil)
      #expect(functions.pointee.realloc(second, .max, user) == nil && memory.bytes == expected)
      let grown = functions.pointee.realloc(first, 5000, user)
      expect(atLeast: 5077)
      let fresh = functions.pointee.realloc(nil, 3, user)
      expect(atLeast: 5080)
      for piece in [second, grown, fresh, nil] { functions.pointee.free(piece, user) }
      #expect(memory.bytes == 0)
    }
  }

  @Test("a client that pings now and then is never out of allowance")
  func allowanceOverTime() {
    var options = HTTP2Options()
    (options.idleFrames, options.idleFramesPerSecond) = (10, 4)
    let start = Instant(nanoseconds: 0)
    var allowance = HTTP2FrameAllowance(options, now: start)
    for _ in 0..<10 { allowance.charge() }
    #expect(!allowance.isOverdrawn)
    allowance.charge()
    #expect(allowance.isOverdrawn)
    allowance.timePassed(start.adding(nanoseconds: 249_999_999))
    #expect(allowance.isOverdrawn)
    allowance.timePassed(start.adding(nanoseconds: 250_000_000))
    #expect(!allowance.isOverdrawn)
    allowance.charge()
    allowance.timePassed(start.adding(nanoseconds: 499_999_999))
    #expect(allowance.isOverdrawn)
    allowance.timePassed(start.adding(nanoseconds: 3_600_000_000_000))
    for _ in 0..<10 { allowance.charge() }
    #expect(!allowance.isOverdrawn)
    allowance.charge()
    #expect(allowance.isOverdrawn)
    allowance.requestCame()
    #expect(!allowance.isOverdrawn)
  }

  @Test(
    "a request that HTTP forbids is reset, and the next one served",
    arguments: [
      [(":method", "POST"), (":scheme", "https"), (":authority", "h")],
      [(":method", "POST"), (":scheme", "https"), (":path", "/a"), (":path", "/b"), (":authority", "h")],
      [(":method", "POST"), (":scheme", "https"), (":path", "/a"), ("a", "b"), (":authority", "h")],
      [
        (":method", "POST"), (":scheme", "https"), (":path", "/a"), (":authority", "h"),
        ("connection", "close"),
      ],
      [
        (":method", "POST"), (":scheme", "https"), (":path", "/a"), (":authority", "h"),
        ("content-length", "5"),
      ],
    ])
  func forbidden(_ fields: [(String, String)]) throws {
    let session = try started()
    let status = session.receive(RawFrame.headers(1, fields) + RawFrame.headers(3, RawFrame.pseudo))
    #expect(status == .taken)
    #expect(session.takeRequests().map(\.streamID) == [3])
    #expect(ReadFrame.all(session.output()).contains { $0.type == 3 && $0.stream == 1 })
    #expect(session.openStreams == 1)
  }

  @Test("a frame that breaks the protocol ends the connection and is remembered")
  func violation() throws {
    let session = try started()
    let status = session.receive(RawFrame.frame(8, 0, 0, [0, 0, 0, 0]))
    #expect(isOver(session, status))
    #expect(session.lastViolation?.frameType == 8)
    #expect(session.sentGoAway?.errorCode == .protocolError)
  }

  @Test("random bytes after the preface never trap and never leave a request half open")
  func noise() throws {
    var generator = SystemRandomNumberGenerator()
    for _ in 0..<300 {
      let session = try #require(HTTP2ServerSession())
      var bytes =
        RawFrame.preface + RawFrame.settings + RawFrame.headers(1, RawFrame.pseudo, flags: 4)
        + RawFrame.data(1, [1, 2, 3]) + RawFrame.ping() + RawFrame.headers(3, RawFrame.pseudo)
      for _ in 0..<Int.random(in: 1...6, using: &generator) {
        bytes[Int.random(in: 24..<bytes.count, using: &generator)] = UInt8.random(
          in: 0...255, using: &generator)
      }
      _ = session.receive(bytes)
      let requests = session.takeRequests()
      for request in requests { session.respond(to: request, with: HTTP2Response(status: 200)) }
      _ = session.output()
      #expect(requests.count <= 2)
    }
  }
}
