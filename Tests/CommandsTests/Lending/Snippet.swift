import Testing

/// A source that keeps something lent where `KEPT` is defined, and is good without.
struct Snippet: CustomTestStringConvertible {
  /// What it tries to do.
  let testDescription: String
  /// Part of each error.
  let reason: String
  let source: String

  private init(_ description: String, _ reason: String, _ source: String) {
    (testDescription, self.reason, self.source) = (description, reason, source)
  }

  /// One for each type that lends, and for each way of keeping.
  static let refused = [
    Snippet(
      "a buffer changes while its bytes are lent", "overlapping accesses to 'buffer'",
      """
      import Basics

      func count() -> Int {
        var buffer = ByteBuffer()
        buffer.append(1)
        let bytes = buffer.span
        #if KEPT
          buffer.append(2)
        #endif
        return bytes.count
      }
      """),
    Snippet(
      "a provider's frame leaves the decoder's call by a variable outside", "'last' escapes its scope",
      """
      import Basics
      import LegacyWire

      func last(_ input: Span<UInt8>) -> Int {
        var decoder = LegacyDecoder()
        var last = Span<UInt8>()
        var count = 0
        _ = decoder.receive(input) { notification in
          #if KEPT
            last = notification.frame
          #else
            count = notification.frame.count
          #endif
          return .goOn
        }
        return last.count + count
      }
      """),
    Snippet(
      "a device's frame is kept from one turn of a loop to the next", "'last' escapes its scope",
      """
      import Basics
      import CourierWire

      func last(_ bytes: Span<UInt8>) throws -> Int {
        var decoder = CourierDecoder()
        var input = bytes
        var last = CourierFrame(commandByte: 0, body: bytes)
        var count = 0
        while let length = try decoder.next(
          &input, limit: 100,
          { frame in
            #if KEPT
              last = frame
            #endif
            return frame.body.count
          })
        {
          count += length + last.body.count
        }
        return count
      }
      """),
    Snippet(
      "an item is returned by the function whose bytes it lies in", "value escapes its scope",
      """
      import Basics
      import CourierWire

      @_lifetime(copy frame)
      func first(_ frame: CourierFrame) throws -> CourierItemView? {
        let bytes = Array(frame.body)
        let copy = CourierFrame(commandByte: frame.commandByte, body: bytes.span)
        #if KEPT
          var items = copy.items
        #else
          var items = frame.items
        #endif
        _ = copy.commandByte
        return try items.next()
      }
      """),
    Snippet(
      "a submission's payload is sent to a task", "'payload' escapes its scope",
      """
      import Basics
      import Broker

      func log(_ submission: Submission) {
        let payload = submission.plain.payload
        #if KEPT
          Task { print(payload.count) }
        #else
          Task { [count = payload.count] in print(count) }
        #endif
      }
      """),
    Snippet(
      "a notification's content is a static variable", "escapes its scope",
      """
      import Broker

      enum Last {
        #if KEPT
          nonisolated(unsafe) static var content: NotificationContent?
        #else
          nonisolated(unsafe) static var content: StoredNotification?
        #endif
      }
      """),
    Snippet(
      "a closure for later takes along what is to be sent to a device", "'notification' escapes its scope",
      """
      import Basics
      import Broker

      final class Outlet {
        var waiting: [() -> Int] = []

        func deliver(_ notification: OutgoingNotification) {
          #if KEPT
            waiting.append { notification.content.payload.count }
          #else
            waiting.append { [count = notification.content.payload.count] in count }
          #endif
        }
      }
      """),
    Snippet(
      "an object's property is a push from another node", "escapes its scope",
      """
      import Cluster

      final class Waiting {
        #if KEPT
          var push: LinkPush?
        #else
          var push: LinkVerdict?
        #endif
      }
      """),
    Snippet(
      "an array holds a string as its text has it", "conform to 'Escapable'",
      """
      import Basics

      func count(_ text: Span<UInt8>) throws -> Int {
        var cursor = JSONCursor(text)
        let string = try cursor.string()
        #if KEPT
          return [string].count
        #else
          return [string.text].count
        #endif
      }
      """),
    Snippet(
      "a message is emptied while the value of a field is lent", "overlapping accesses to 'message'",
      """
      import Basics
      import PushModel

      func count(_ message: inout HTTPMessage) -> Int {
        let path = message[.path]
        #if KEPT
          message.reset()
        #endif
        return path?.count ?? 0
      }
      """),
  ]
}
