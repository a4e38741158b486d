import Testing

import Transport

@Suite("Memory of HTTP/2 sessions")
struct HTTP2SpareMemoryTests {
  @Test("what was given back is taken again by who asks for about as much, and by nobody else")
  func reuse() throws {
    let spare = HTTP2SpareMemory()
    let piece = try #require(spare.take(100))
    spare.give(piece, 100)
    #expect(spare.bytes == 128)
    let other = try #require(spare.take(129))
    #expect(other != piece)
    #expect(spare.take(65) == piece)
    #expect(spare.bytes == 0)
    spare.give(piece, 65)
    spare.give(other, 129)
    #expect(spare.bytes == 128 + 192)
  }

  @Test("pieces in use never overlap, and are aligned", arguments: [1, 64, 65, 1000, 1024, 1025, 100_000])
  func apart(_ size: Int) throws {
    let spare = HTTP2SpareMemory()
    for _ in 0..<2 {
      let pieces = try (0..<50).map { _ in try #require(spare.take(size)) }
      #expect(pieces.allSatisfy { Int(bitPattern: $0) % 16 == 0 })
      for (index, piece) in pieces.enumerated() {
        piece.initializeMemory(as: UInt8.self, repeating: UInt8(index), count: size)
      }
      for (index, piece) in pieces.enumerated() {
        let bytes = UnsafeRawBufferPointer(start: piece, count: size)
        #expect(bytes.allSatisfy { $0 == UInt8(index) })
      }
      for piece in pieces { spare.give(piece, size) }
    }
  }

  @Test("large pieces are not kept, and of small ones no more than the limit")
  func bounded() throws {
    let spare = HTTP2SpareMemory()
    spare.give(try #require(spare.take(5000)), 5000)
    #expect(spare.bytes == 0)
    let pieces = try (0..<1000).map { _ in try #require(spare.take(1000)) }
    for piece in pieces { spare.give(piece, 1000) }
    #expect(spare.bytes == HTTP2SpareMemory.limit)
  }

  @Test("sessions that share it have their own contents")
  func shared() throws {
    let spare = HTTP2SpareMemory()
    let sessions = try (0..<3).map { _ in try #require(HTTP2ServerSession(spare: spare)) }
    for stream in stride(from: UInt32(1), to: 41, by: 2) {
      for (index, session) in sessions.enumerated() {
        let preface = stream == 1 ? RawFrame.preface + RawFrame.settings : []
        let fields = RawFrame.pseudo + [("apns-topic", "com.example.app\(index)")]
        #expect(session.receive(preface + RawFrame.headers(stream, fields)) == .taken)
      }
      for (index, session) in sessions.enumerated() {
        let requests = session.takeRequests()
        #expect(requests.map { $0.message.text(.apnsTopic) } == ["com.example.app\(index)"])
        for request in requests { session.respond(to: request, with: HTTP2Response(status: 200)) }
        #expect(ReadFrame.all(session.output()).contains { $0.type == 1 && $0.stream == stream })
      }
    }
    #expect(spare.bytes > 0)
  }
}
