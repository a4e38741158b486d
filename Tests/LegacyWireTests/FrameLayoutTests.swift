import Basics
import LegacyWire
import Testing

/// Frames in the order that nearly all clients send are read at one go, others item by item; nobody may be able to tell.
@Suite("Frames laid out as usual, and nearly so")
struct FrameLayoutTests {
  /// What `Documentation/binary-protocol.md#items` says of the items of a frame, in as few words as possible.
  private static func outcome(ofItemsIn frame: [UInt8]) -> (items: [UInt8: [UInt8]], LegacyParseFailure.Code?)
  {
    var items: [UInt8: [UInt8]] = [:]
    var rest = frame.dropFirst(5)
    while !rest.isEmpty {
      guard rest.count >= 3 else { return (items, .truncatedItem(left: rest.count)) }
      let (id, length) = (
        rest[rest.startIndex], Int(rest[rest.startIndex + 1]) << 8 | Int(rest[rest.startIndex + 2])
      )
      rest = rest.dropFirst(3)
      guard length <= rest.count else {
        return (items, .itemOverruns(id: id, length: length, left: rest.count))
      }
      guard (1...5).contains(id) else { return (items, .unknownItem(id)) }
      guard items[id] == nil else { return (items, .duplicateItem(id)) }
      let value = Array(rest.prefix(length))
      if let wanted = [3: 4, 4: 4, 5: 1][Int(id)], length != wanted {
        return (items, .itemLength(id: id, length: length))
      }
      if id == 5, value != [10], value != [5] { return (items, .priority(value[0])) }
      items[id] = value
      rest = rest.dropFirst(length)
    }
    return (items, nil)
  }

  private static func number(_ bytes: [UInt8]?) -> UInt32? {
    bytes?.reduce(0) { $0 << 8 | UInt32($1) }
  }

  private func expectByTheRules(_ frame: [UInt8], _ what: String) {
    let (items, failure) = Self.outcome(ofItemsIn: frame)
    let recorder = Recorder.hearing(frame)
    #expect(recorder.failure?.code == failure, "\(what)")
    #expect(
      recorder.failure.map(\.identifier) ?? 0 == (failure == nil ? 0 : Self.number(items[3]) ?? 0), "\(what)")
    #expect(recorder.heard.isEmpty == (failure != nil), "\(what)")
    guard failure == nil else { return }
    guard let heard = recorder.heard.first else { return }
    #expect(heard.token == items[1] && heard.payload == items[2], "\(what)")
    #expect(
      heard.identifier == Self.number(items[3]) ?? 0 && heard.expiration == Self.number(items[4]), "\(what)")
    #expect(heard.priority == (items[5] == [5] ? .conserving : .immediate), "\(what)")
    #expect(heard.saysPriority == (items[5] != nil), "\(what)")
  }

  /// Everything but command and length.
  private static let changed = 5..<Example.full.count

  @Test("any byte changed")
  func changedBytes() {
    for position in Self.changed {
      for value: UInt8 in [0, 1, 2, 3, 4, 5, 6, 10, 31, 32, 33, 0xff] {
        var frame = Example.full
        frame[position] = value
        expectByTheRules(frame, "byte \(position) is \(value)")
      }
    }
  }

  @Test("cut at any byte, with a length that says so")
  func cut() {
    for count in 6...Example.full.count {
      var frame = Array(Example.full.prefix(count))
      frame[4] = UInt8(count - 5)
      expectByTheRules(frame, "\(count) bytes")
    }
  }

  @Test("with more behind the last item")
  func longer() {
    for extra in [[0], [5], [5, 0, 1, 10], [2, 0, 0], [3, 0, 4, 0, 0, 0, 1]] as [[UInt8]] {
      var frame = Example.full + extra
      frame[4] = UInt8(frame.count - 5)
      expectByTheRules(frame, "\(extra) behind")
    }
  }

  @Test("with a length that is too small or too large for the items, and more behind it")
  func otherLength() {
    for length in 1...UInt8(Example.full.count) where Int(length) != Example.full.count - 5 {
      var frame = Example.full
      frame[4] = length
      let stream = frame + Example.full
      let first = Array(stream.prefix(5 + Int(length)))
      let (items, failure) = Self.outcome(ofItemsIn: first)
      let recorder = Recorder.hearing(stream)
      if let failure {
        #expect(recorder.failure?.code == failure && recorder.heard.isEmpty, "\(length) bytes")
      } else {
        #expect(
          recorder.heard.first?.frame == first && recorder.heard.first?.payload == items[2], "\(length) bytes"
        )
      }
    }
  }
}
