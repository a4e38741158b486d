import PushModel
import Transport

/// Which events of the stream `tail` tells.
package struct EventFilter {
  /// What happens, as the stream names it. A gap, where events were missed, is always told.
  package enum Name: String, CaseIterable, Sendable {
    case notification, delivery, device, token, connection, fault, boot
    /// On the phone of a device.
    case presented, callback, `extension`, dropped, phone
  }

  /// Empty for all but what is of no use to people: which run of the emulator it is that they watch, connections of the
  /// console, as each look at it is one, and that there is something else to be seen of a phone.
  var names: Set<Name>
  var topics: Set<String>
  var udids: Set<String>

  package init(names: Set<Name> = [], topics: Set<String> = [], udids: Set<String> = []) {
    (self.names, self.topics, self.udids) = (names, topics, udids)
  }

  package func passes(_ event: EventStreamReader.Event) -> Bool {
    guard let name = Name(rawValue: event.name) else { return true }
    guard names.isEmpty ? name != .boot : names.contains(name) else { return false }
    if topics.isEmpty, udids.isEmpty, name != .connection, name != .phone { return true }
    guard let document = JSONReader.read(Array(event.data.utf8), maximumDepth: JSONText.maximumDepth) else {
      return true
    }
    if name == .connection, names.isEmpty, document.string("listener") == "console" { return false }
    if name == .phone, names.isEmpty, document.string("change") == "document" { return false }
    let subject = document["notification"] ?? document["row"] ?? document
    return Self.isAmong(subject["topic"], topics) && Self.isAmong(subject["udid"], udids)
  }

  private static func isAmong(_ value: JSONValue?, _ wanted: Set<String>) -> Bool {
    wanted.isEmpty || value?.string.map(wanted.contains) ?? false
  }
}
