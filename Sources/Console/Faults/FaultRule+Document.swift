import Faults
import PushModel

/// Rules as the API shows them: what was sent, with counts.
extension FaultRule {
  var document: JSONValue {
    .object(members + [("hits", .integer(Int64(hits))), ("seen", .integer(Int64(seen)))])
  }

  /// As above without the counts.
  var setting: JSONValue { .object(members) }

  private var members: [(String, JSONValue)] {
    [
      ("name", .string(name)), ("match", match.document), ("when", schedule.document),
      ("effect", effects.document), ("enabled", .bool(isEnabled)),
    ]
  }
}

extension FaultMatch {
  fileprivate var document: JSONValue {
    var members: [(String, JSONValue)] = []
    if let place { members.append(("interface", .string(place.rawValue))) }
    if let topic { members.append(("topic", .string(topic))) }
    if let token { members.append(("token", .string(Hex.encode(token)))) }
    if let priority { members.append(("priority", .integer(Int64(priority.rawValue)))) }
    if let connection { members.append(("connection", .string(connection))) }
    return .object(members)
  }
}

extension FaultSchedule {
  fileprivate var document: JSONValue {
    switch self {
    case .always: return .null
    case .next(let count): return ["next": .integer(Int64(count))]
    case .every(let count): return ["every": .integer(Int64(count))]
    case .probability(let probability): return ["probability": .number(probability)]
    case .window(let from, let to):
      return .object(
        [("from", from), ("to", to)].compactMap { name, time in time.map { (name, .string($0.rfc3339)) } })
    }
  }
}

extension FaultEffects {
  /// As requests write them.
  public var document: JSONValue { .object(answerMembers + connectionMembers) }

  private var answerMembers: [(String, JSONValue)] {
    var members: [(String, JSONValue)] = []
    if let reason { members.append(("reason", .string(reason.reason))) }
    if let delay {
      members.append(("delayMs", .integer(delay.milliseconds)))
      if delay.jitterMilliseconds > 0 { members.append(("jitterMs", .integer(delay.jitterMilliseconds))) }
    }
    if let dribble {
      let inner: JSONValue = [
        "bytes": .integer(Int64(dribble.bytes)), "everyMs": .integer(dribble.everyMilliseconds),
      ]
      members.append(("dribble", inner))
    }
    if let legacy {
      var inner: [(String, JSONValue)] = [("status", .integer(Int64(legacy.status)))]
      if let identifier = legacy.identifier { inner.append(("identifier", .integer(Int64(identifier)))) }
      members.append(("legacy", .object(inner)))
    }
    if let garbage { members.append(("garbage", .integer(Int64(garbage)))) }
    return members
  }

  private var connectionMembers: [(String, JSONValue)] {
    var members: [(String, JSONValue)] = []
    if let goAway {
      members.append(("goaway", .object(goAway.reason.map { [("reason", .string($0))] } ?? [])))
    }
    if let resetStream { members.append(("rstStream", .integer(Int64(resetStream)))) }
    if let tlsAlert { members.append(("tlsAlert", .integer(Int64(tlsAlert)))) }
    let flags = [
      ("reset", resetsConnection), ("halfClose", halfCloses), ("stall", stalls), ("refuse", refuses),
    ]
    for (name, isSet) in flags where isSet { members.append((name, true)) }
    if let courier { members.append(("courier", .string(courier.rawValue))) }
    return members
  }
}
