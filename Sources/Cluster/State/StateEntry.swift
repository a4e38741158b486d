import Basics
import Broker
import PushModel

/// One change of a zone's state, as it lies in the log: its kind, and what is so from now on, by names.
enum StateEntry {
  enum Kind: UInt8 {
    case startsOver = 1
    case topic, device, registration, message, noMessage, channel, noChannel, broadcast, subscription,
      noSubscription
  }

  /// Which new beginning it is.
  static let startsOver = RowForm<UInt64>([RowField(1, "", .counted("a new beginning"), \.self)])

  /// A row of the token map with what it is of.
  struct Token {
    var udid: UDID
    var topic: TopicEntry
    var row: TokenRow

    static let blank = Token(udid: DeviceRow.blank.udid, topic: .blank, row: TokenRow())
    static let form = RowForm<Token>(
      [
        RowField(2, "", .udid, \.udid), RowField(3, "", .topicHash, \.topic.hash),
        RowField(4, "", .optional(.topic), \.topic.name),
      ] + TokenRow.form.fields.map { $0.of(\.row) })
    /// By the kind of entry. Nodes of before know theirs: what has a field that came later is told by a kind of its own.
    static let forms: [Kind: RowForm<Token>] = [.registration: form]
  }

  static func write(_ device: Device, to out: inout StateWriter) {
    out.write(Kind.device.rawValue)
    out.write(DeviceRow(device), DeviceRow.form)
  }

  static func write(_ topic: Topic, to out: inout StateWriter) {
    out.write(Kind.topic.rawValue)
    out.write(topic.name)
  }

  static func write(_ id: RegistrationID, of registry: Registry, to out: inout StateWriter) {
    out.write(Kind.registration.rawValue)
    let (device, topic) = (registry[registry[id].device], registry[registry[id].topic])
    out.write(Token(udid: device.udid, topic: topic, row: registry.told(id)), Token.form)
  }

  /// The message of a row, or that there is none.
  static func writeNotification(_ row: RegistrationID, of broker: Broker, to out: inout StateWriter) {
    let token = broker.registry[row].token
    guard let message = broker.deliveries.stored(row) else {
      out.write(Kind.noMessage.rawValue)
      return out.write(token)
    }
    out.write(Kind.message.rawValue)
    out.write(token)
    out.write(message.head, NotificationHead.form)
    out.write(message.content.collapseId)
    out.write(message.content.payload)
  }

  /// The names of a channel.
  package struct ChannelName: Hashable {
    package var topic: TopicEntry
    package var environment: Environment
    package var id: [UInt8]

    static let blank = ChannelName(topic: .blank, environment: .sandbox, id: [])
    static let form = RowForm<ChannelName>([
      RowField(1, "", .topicHash, \.topic.hash), RowField(2, "", .optional(.topic), \.topic.name),
      RowField(3, "", .environment, \.environment), RowField(4, "", .bytes, \.id),
    ])
  }

  static func write(_ key: ChannelTable.Key, of registry: Registry, as kind: Kind, to out: inout StateWriter)
  {
    out.write(kind.rawValue)
    let name = ChannelName(topic: registry[key.topic], environment: key.environment, id: key.id)
    out.write(name, ChannelName.form)
  }
}
