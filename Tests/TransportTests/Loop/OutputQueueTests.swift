import CLibrary
import Platform
import Testing

@testable import Transport

@Suite("Output queue")
struct OutputQueueTests {
  @Test("what was there before anything had to wait is not held back, the next byte is")
  func heldBack() throws {
    let loop = try #require(EventLoop())
    var queue = OutputQueue()
    defer { queue.release(to: loop) }
    queue.append([1, 2, 3].span, from: loop)
    queue.hold()
    let before = queue.isHeldBack
    queue.append([4].span, from: loop)
    let after = queue.isHeldBack
    #expect(!before && after)
  }

  @Test("a piece is followed by its pause, and where nothing may leave there is none")
  func heldPiece() throws {
    var ends: [Int32] = [0, 0]
    try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
    defer { for end in ends { SocketCalls.close(end) } }
    let loop = try #require(EventLoop())
    let layer = try SocketLayer(ends[0], nil, isServer: false)
    var queue = OutputQueue()
    defer { queue.release(to: loop) }
    queue.append([1, 2, 3].span, from: loop)
    queue.startDribble(bytes: 1, everyNanoseconds: 5)
    queue.cover()
    guard case .held = queue.write(to: layer, on: loop) else {
      Issue.record("a commit holds it")
      return
    }
    queue.openGate()
    guard case .piece(pause: 5) = queue.write(to: layer, on: loop) else {
      Issue.record("expected a piece")
      return
    }
    let left = queue.count
    #expect(left == 2)
  }
}
