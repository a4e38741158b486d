import Basics
import PushModel

/// A push as the phone gets it, or a local notification that is due.
package struct PhonePush: Sendable {
  /// Names it on the phone.
  package let id: UInt64
  /// Of its app, or with the suffix of its type before the phone has it.
  package internal(set) var topic: Topic
  package var content: PushContent
  /// nil where the provider said none.
  package var type: PushType?
  /// nil where the provider said none, which counts as 10.
  package var priority: Priority?
  package var collapseId: String?
  /// What it was sent to; `.app` where nobody knows.
  package var token = TokenUse.app
  /// In the emulator's journal, if that is known.
  package var notificationId: UInt64?
  /// Of a local notification, its identifier.
  package internal(set) var localIdentifier: String?
  private(set) var activity: ActivityPush?

  package init(
    id: UInt64, topic: Topic, payload: [UInt8], type: PushType? = nil, priority: Priority? = nil,
    collapseId: String? = nil
  ) {
    (self.id, self.topic, self.type, self.priority, self.collapseId) = (id, topic, type, priority, collapseId)
    let document = JSONReader.read(payload, maximumDepth: JSONText.maximumDepth) ?? .null
    let aps = document.member("aps") ?? .null
    let isOfActivity = (type ?? topic.app.type) == .liveactivity
    content = PushContent(aps: aps, ofActivity: isOfActivity)
    activity = isOfActivity ? ActivityPush(aps) : nil
    addresses = PayloadAddresses(document)
    caller = document.string("caller") ?? content.title ?? content.body
    if case .bool(true)? = aps.member("content-changed") { isContentChanged = true }
  }

  init(id: UInt64, topic: Topic, local identifier: String, content: PushContent) {
    (self.id, self.topic, self.content) = (id, topic, content)
    localIdentifier = identifier
  }

  /// What a service extension may fetch.
  private(set) var addresses = PayloadAddresses()

  var isLocal: Bool { localIdentifier != nil }
  var isUrgent: Bool { (priority ?? .immediate) == .immediate }
  /// `content-changed`, of controls and widgets.
  private(set) var isContentChanged = false
  /// Who calls, as the payload of a VoIP push may say: `caller`, else its text.
  private(set) var caller: String?
}

/// What a push was sent to.
package enum TokenUse: Sendable, Equatable {
  /// The token of a topic.
  case app
  /// One of the tokens that were made for something.
  case context(TokenContext)
  /// No token: a broadcast to those that joined this channel.
  case channel(String)
}
