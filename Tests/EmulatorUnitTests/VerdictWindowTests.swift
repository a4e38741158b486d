import Basics
import Broker
import Testing

import Emulator
import LegacyWire

@Suite("The window of one gateway connection")
struct VerdictWindowTests {
  private func window(_ size: Int, begun count: UInt32, command: UInt8 = 1) -> VerdictWindow<Int> {
    var window = VerdictWindow<Int>(PushWindow(size: size, mayRetry: true))
    for identifier in 1..<(count + 1) {
      #expect(window.nextSequence == identifier - 1)
      window.begin(command: command, identifier: identifier, token: [UInt8(identifier)])
    }
    return window
  }

  @Test("it holds as many as its size, and room comes in order")
  func size() {
    var last: UInt32?
    var window = window(2, begun: 2)
    #expect(!window.mayBegin)
    #expect(window.settle(1, nil, &last) == nil)
    #expect(!window.mayBegin, "the first is still under way")
    #expect(window.settle(0, nil, &last) == nil)
    #expect(window.mayBegin && window.isEmpty)
    #expect(last == 2)
  }

  @Test("a rejection is told once everything before it was accepted, and nothing begins after it")
  func order() {
    var last: UInt32?
    var window = window(5, begun: 4)
    #expect(window.settle(2, .badDeviceToken, &last) == nil)
    #expect(!window.mayBegin)
    #expect(window.settle(0, nil, &last) == nil)
    let ending = window.settle(1, nil, &last)
    #expect(ending?.identifier == 3)
    #expect((ending?.status, ending?.command) == (8, 1))
    #expect(last == 2)
    #expect(window.settle(3, .badDeviceToken, &last) == nil, "what comes later concerns nobody")
  }

  @Test("of two rejections the first in order is told, whichever came first")
  func twoRejections() {
    var last: UInt32?
    var window = window(5, begun: 3)
    #expect(window.settle(2, .payloadTooLarge, &last) == nil)
    #expect(window.settle(1, .badDeviceToken, &last) == nil)
    #expect(window.settle(0, nil, &last)?.identifier == 2)
  }

  /// `Documentation/binary-protocol.md#error-packet`: status 10 names the last that was sent.
  @Test("a server that goes names the last that it took; where it took none, nobody is named")
  func shutdown() {
    var last: UInt32?
    var window = window(5, begun: 3)
    #expect(window.settle(1, .shutdown, &last) == nil)
    let ending = window.settle(0, nil, &last)
    #expect(ending?.status == 10 && ending?.command == 1 && ending?.identifier == 1)
    var fresh = self.window(5, begun: 3)
    var none: UInt32?
    let silent = fresh.settle(0, .shutdown, &none)
    #expect(silent?.command == LegacyCommand.simple.rawValue && silent?.identifier == 0)
  }

  @Test("what was accepted behind a rejection is handed over, what is under way is not")
  func discarded() {
    var last: UInt32?
    var window = window(9, begun: 5)
    _ = window.settle(2, nil, undo: 12, &last)
    _ = window.settle(4, nil, undo: 14, &last)
    _ = window.settle(0, nil, undo: 10, &last)
    let ending = window.settle(1, .badDeviceToken, &last)
    #expect(ending?.discarded == [12, 14])
  }

  @Test("where all is decided first, a rejection waits for what is under way behind it")
  func decidesAllFirst() {
    var last: UInt32?
    var window = VerdictWindow<Int>(PushWindow(size: 9, decidesAllFirst: true))
    for identifier: UInt32 in 1...4 { window.begin(command: 1, identifier: identifier, token: []) }
    #expect(
      window.settle(1, .badDeviceToken, &last) == nil && !window.awaitsRest, "the first may be rejected, too")
    #expect(window.settle(3, nil, undo: 13, &last) == nil)
    #expect(window.settle(0, nil, &last) == nil && window.awaitsRest && !window.mayBegin)
    let ending = window.settle(2, .shutdown, &last)
    #expect(ending?.identifier == 2 && ending?.status == 8 && ending?.discarded == [13])
    #expect(!window.awaitsRest && window.isEmpty)
    #expect(window.settle(2, nil, &last) == nil, "what comes later concerns nobody")
  }

  @Test("command 0 has no identifier to be named when the emulator ends")
  func simple() {
    var last: UInt32?
    var window = window(3, begun: 2, command: 0)
    _ = window.settle(0, nil, &last)
    _ = window.settle(1, nil, &last)
    #expect(last == nil)
  }

  @Test("it knows whether a push to a token is under way")
  func holds() {
    var last: UInt32?
    var window = window(3, begun: 2)
    let holds = { (token: [UInt8]) in window.holds(token.span) }
    #expect(holds([2]) && !holds([3]) && !window.holds(nil))
    _ = window.settle(1, nil, &last)
    let holdsNow = window.holds([UInt8(2)].span)
    #expect(!holdsNow)
  }

  @Test("one whose verdict is known at once waits for those before it")
  func knownAtOnce() {
    var last: UInt32?
    var window = window(5, begun: 1)
    #expect(window.take(command: 2, status: nil, identifier: 7, &last) == nil)
    #expect(last == nil, "the first is still under way")
    #expect(window.nextSequence == 2)
    #expect(window.take(command: 2, status: 10, identifier: nil, &last) == nil)
    #expect(!window.mayBegin)
    let ending = window.settle(0, nil, &last)
    #expect((ending?.status, ending?.identifier) == (10, 7), "status 10 names the last that was accepted")
  }

  @Test("verdicts on what it never held change nothing")
  func strangers() {
    var last: UInt32?
    var window = window(3, begun: 1)
    #expect(window.settle(1, .badDeviceToken, &last) == nil)
    #expect(window.settle(.max, .badDeviceToken, &last) == nil)
    #expect(window.mayBegin)
  }
}
