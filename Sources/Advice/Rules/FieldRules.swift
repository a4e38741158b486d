import Basics
import PushModel

/// What is said of the fields of single pushes, whatever becomes of these.
struct FieldRules {
  /// So much of the allowed size is nearly too much, in twentieths.
  static let nearlyTooLarge = 19
  /// Identifiers of a connection that are compared, as a count.
  static let identifierLimit = 64

  static func saw(
    _ push: borrowing SeenPush, on connection: KnownConnection, at moment: Moment,
    in findings: inout FindingTable
  ) {
    var occurrence = Occurrence(.noPushType, from: connection.origin, at: moment)
    occurrence.push = push.id
    if push.interface == .gateway {
      sawFrame(push, on: connection, occurrence, in: &findings)
    } else if push.pushType == nil {
      // What was refused may have had a type that nobody knows.
      if push.rejection == nil || push.fault != nil { findings.add(occurrence) }
    } else if push.pushType == .background && push.priority == .immediate {
      occurrence.rule = .backgroundAtPriority10
      findings.add(occurrence)
    }
    // The topic of a VoIP certificate stands at the end of its words.
    if push.expiration == 0, isKept(push.pushType),
      !connection.credential.hasSuffix(PushType.voip.topicSuffix)
    {
      occurrence.rule = .expiresAtOnce
      findings.add(occurrence)
    }
    if isNearlyTooLarge(push.payload.count, push.interface, push.pushType) {
      occurrence.rule = .payloadNearlyTooLarge
      (occurrence.measure, occurrence.total) = (
        Int64(push.payload.count), UInt64(limit(push.interface, push.pushType))
      )
      findings.add(occurrence)
    }
  }

  private static func sawFrame(
    _ push: borrowing SeenPush, on connection: KnownConnection, _ occurrence: Occurrence,
    in findings: inout FindingTable
  ) {
    var occurrence = occurrence
    if push.command == 0 {
      occurrence.rule = .command0
      findings.add(occurrence)
    } else {
      let isKnown = connection.identifiers.contains(push.identifier)
      guard isKnown else {
        if connection.identifiers.count < identifierLimit { connection.identifiers.insert(push.identifier) }
        return
      }
      occurrence.rule = .identifiersNotUnique
      occurrence.count = connection.hasSaidIdentifiers ? 1 : 2
      connection.hasSaidIdentifiers = true
      findings.add(occurrence)
    }
  }

  /// Whether people expect such a push to be stored for a device that is offline; without a type they do.
  private static func isKept(_ type: PushType?) -> Bool {
    type == nil || type == .alert || type == .background
  }

  private static func limit(_ interface: Interface, _ type: PushType?) -> Int {
    interface == .gateway ? Limits.legacyPayload : type?.maximumPayload ?? Limits.providerPayload
  }

  private static func isNearlyTooLarge(_ size: Int, _ interface: Interface, _ type: PushType?) -> Bool {
    let limit = limit(interface, type)
    return size <= limit && size * 20 > limit * nearlyTooLarge
  }
}

extension FieldRules {
  static let noPushType = RuleTerms(
    severity: .warning,
    remedy: "Send apns-push-type with each push: alert, background, voip and so on, as the payload is."
  ) {
    "\(Numerals.count($0.count, "push", "pushes")) had no apns-push-type."
  }

  static let backgroundAtPriority10 = RuleTerms(
    severity: .warning,
    remedy: "Send apns-priority 5 with each push of type background: without the field it is 10."
  ) {
    "\(Numerals.count($0.count, "push", "pushes")) of type background had priority 10, which Apple calls an error."
  }

  static let expiresAtOnce = RuleTerms(
    severity: .note,
    remedy:
      "Give an expiration in the future, unless the push is worth nothing to a phone that is offline now."
  ) {
    "\(Numerals.count($0.count, "push", "pushes")) had expiration 0: a phone that is offline never gets them."
  }

  static let identifiersNotUnique = RuleTerms(
    severity: .warning,
    remedy:
      "Give each frame of a connection an identifier of its own, from 1: an error packet names the frame by it."
  ) {
    let number = Numerals.count($0.count, "frame", "frames")
    return "\(number) of those looked at had an identifier that other frames of the connection had, too."
  }

  static let command0 = RuleTerms(
    severity: .note,
    remedy:
      "Use command 2, or HTTP/2: command 0 has no identifier, so nobody learns which frame was rejected."
  ) {
    let number = Numerals.count($0.count, "frame", "frames")
    return "\(number) had command 0, whose rejection ends the connection without a packet."
  }

  static let payloadNearlyTooLarge = RuleTerms(
    severity: .note, keeps: .largest,
    remedy: "Leave some room: shorten the text, or send an id by which the app fetches the rest."
  ) {
    let number = Numerals.count($0.count, "payload was", "payloads were")
    return
      "\(number) nearly too large, the largest \(Numerals.grouped($0.measure ?? 0)) of \(Numerals.grouped($0.total)) bytes."
  }
}
