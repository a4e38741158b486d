import Broker

@testable import Storage

/// The store's log of messages: the file may be damaged, and that must be noticed, not followed.
struct LogFuzz: FuzzTarget {
  func take(_ input: UnsafeRawBufferPointer) {
    var offset = 0
    while offset < input.count, let change = NotificationEntry.read(input, &offset) {
      precondition(change.registration.index >= 0)
      guard case .kept(let message) = change else { continue }
      let count = NotificationEntry.count(message)
      let copy = UnsafeMutableRawPointer.allocate(byteCount: count, alignment: 16)
      defer { copy.deallocate() }
      NotificationEntry.write(message, to: copy)
      var start = 0
      let again = NotificationEntry.read(UnsafeRawBufferPointer(start: copy, count: count), &start)
      guard case .kept(let second) = again, start == count else {
        fatalError("an entry did not survive its copy")
      }
      precondition(second.head.id == message.head.id && second.payload.elementsEqual(message.payload))
    }
  }
}
