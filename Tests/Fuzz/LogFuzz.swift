import Basics
import Broker

@testable import Storage

/// The store's log of messages: the file may be damaged, and that must be noticed, not followed.
struct LogFuzz: FuzzTarget {
  func take(_ input: UnsafeRawBufferPointer) {
    let bytes = Array(input)
    var offset = 0
    while offset < bytes.count, let entry = NotificationEntry.read(bytes.span, &offset) {
      precondition(entry.registration.index >= 0)
      guard let head = entry.head else { continue }
      check(StoredNotification(registration: entry.registration, head: head, content: entry.content))
    }
  }

  private func check(_ message: StoredNotification) {
    var copy = ByteBuffer()
    var words: [UInt64] = []
    NotificationEntry.write(message, to: &copy, &words)
    let written = Array(copy.span)
    var start = 0
    guard let again = NotificationEntry.read(written.span, &start), let head = again.head,
      start == written.count, start == NotificationEntry.count(message)
    else { fatalError("an entry did not survive its copy") }
    precondition(head.id == message.head.id && again.content.payload.hasSameBytes(as: message.payload))
  }
}
