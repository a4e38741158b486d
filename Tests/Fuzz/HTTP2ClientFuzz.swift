import Basics

import Transport

/// The HTTP/2 client: whatever a server sends, each request comes to one end at most, and no more is sent than is asked for.
struct HTTP2ClientFuzz: FuzzTarget {
  private static let requests = 5
  /// Output that one input may cause, in bytes: five requests and acknowledgements.
  private static let outputLimit = 1 << 20
  private let head = HTTP2RequestHead(authority: "localhost", fields: [("apns-topic", "com.example.app")])

  func take(_ input: UnsafeRawBufferPointer) {
    guard let session = HTTP2ClientSession() else { return }
    for context in 1...Self.requests {
      session.submit(head, path: "/3/device/\(context)", body: Array("{\"aps\":{}}".utf8), context: context)
    }
    var sent = drain(session)
    var ended: Set<Int> = []
    // An empty SETTINGS frame is the least that every server begins with.
    [UInt8]([0, 0, 0, 4, 0, 0, 0, 0, 0]).withUnsafeBytes { feed($0, session, &ended, &sent) }
    input.forEachPiece { feed($0, session, &ended, &sent) }
    precondition(sent < Self.outputLimit)
  }

  private func feed(
    _ piece: UnsafeRawBufferPointer, _ session: HTTP2ClientSession, _ ended: inout Set<Int>, _ sent: inout Int
  ) {
    guard case .taken = session.receive(piece.span) else { return }
    while let event = session.nextEvent() {
      switch event {
      case .answered(let stream):
        precondition(stream.status >= 200 && ended.insert(stream.context).inserted)
        precondition(stream.body.count <= HTTP2ClientStream.answerBodyLimit)
      case .reset(let stream, _): precondition(ended.insert(stream.context).inserted)
      }
    }
    sent += drain(session)
  }

  private func drain(_ session: HTTP2ClientSession) -> Int {
    var count = 0
    session.drainOutput { count += $0.count }
    return count
  }
}
