import Basics

/// What has happened to a fleet so far, in figures.
package struct FleetTally {
  /// Different reasons that are told apart, as a count; they may name what a peer has sent.
  private static let reasonLimit = 20

  package let phones: Int
  package private(set) var online = 0
  /// Phones whose apps all have tokens.
  package var ready = 0
  /// Times that a phone got through to the service.
  package private(set) var connects = 0
  package private(set) var notifications = 0
  /// Those among them that were kept while their phone was offline.
  package private(set) var kept = 0
  /// Phones that have got a notification.
  package private(set) var reached = 0
  package var appsRemoved = 0
  /// Apps that the emulator did not remove.
  package var removalsFailed = 0
  package var tokensRefused = 0
  /// Why connections ended or did not come about, and how often.
  package private(set) var endings: [String: Int] = [:]
  /// How long pushes took that were not kept; nanoseconds.
  package private(set) var latency = LatencySketch()
  /// When the first and the last notification came.
  private var span: (first: Instant, last: Instant)?

  package init(phones: Int) { self.phones = phones }

  package mutating func connected() {
    connects += 1
    online += 1
  }

  package mutating func disconnected(wasOnline: Bool, reason: String) {
    if wasOnline { online -= 1 }
    let isKnown = endings[reason] != nil || endings.count < Self.reasonLimit
    endings[isKnown ? reason : "other reasons", default: 0] += 1
  }

  /// `latency` is nil where it can't be known; that of a kept one tells how long its phone was offline.
  package mutating func notified(isKept: Bool, isFirst: Bool, latency nanoseconds: Int64?, at now: Instant) {
    notifications += 1
    if isKept { kept += 1 }
    if isFirst { reached += 1 }
    span = (span?.first ?? now, now)
    if let nanoseconds, !isKept { latency.add(nanoseconds) }
  }

  /// From the first notification to the last, in nanoseconds.
  package var spanNanoseconds: Int64 { span.map { $0.last.nanoseconds(since: $0.first) } ?? 0 }
}

extension FleetTally {
  private static let percentiles = [("p50", 0.5), ("p99", 0.99)]

  /// The figures that move, on one line.
  package var line: String {
    var text = "\(online) of \(Self.count(phones, "phone")) connected"
    if ready < phones { text += ", \(ready) with tokens" }
    text += "; \(Self.count(notifications, "notification"))"
    if let middle = latency.percentile(0.5), let most = latency.percentile(0.99) {
      text += ", p50 \(Self.milliseconds(middle)), p99 \(Self.milliseconds(most))"
    }
    return text
  }

  /// What it came to, a line each. `since` says where latency is measured from; nil if it can't be known.
  package func lines(after nanoseconds: Int64, latencySince since: String?) -> [String] {
    var lines = [
      "\(Self.count(phones, "phone")) for \(Self.seconds(nanoseconds)): \(online) connected at the end, \(ready) got tokens"
    ]
    lines.append("connected \(Self.count(connects, "time"))\(Self.list(endings))")
    if appsRemoved > 0 { lines.append("\(Self.count(appsRemoved, "app")) removed") }
    if removalsFailed > 0 { lines.append("\(Self.count(removalsFailed, "app")) could not be removed") }
    if tokensRefused > 0 { lines.append("\(Self.count(tokensRefused, "token")) refused") }
    lines.append(
      "\(Self.count(notifications, "notification")) to \(Self.count(reached, "phone")), \(kept) of them stored while offline"
        + (spanNanoseconds > 0 ? "; \(Self.seconds(spanNanoseconds)) from the first to the last" : ""))
    if let since, latency.count > 0 {
      let parts = Self.percentiles.compactMap { name, part in
        latency.percentile(part).map { "\(name) \(Self.milliseconds($0))" }
      }
      lines.append(
        "latency \((parts + ["max \(Self.milliseconds(latency.longest))"]).joined(separator: ", ")), from \(since)"
      )
    } else if notifications > kept {
      lines.append(
        "latency unknown, because the emulator's clock is not wall-clock time; --stamp measures it")
    }
    return lines
  }

  /// `1 phone`, `2 phones`.
  private static func count(_ number: Int, _ noun: String) -> String {
    "\(number) \(noun)\(number == 1 ? "" : "s")"
  }

  private static func list(_ endings: [String: Int]) -> String {
    let sorted = endings.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
    return sorted.isEmpty
      ? "" : "; ended: " + sorted.map { "\($0.value) × \($0.key.visible)" }.joined(separator: ", ")
  }

  package static func seconds(_ nanoseconds: Int64) -> String {
    decimal(nanoseconds / 100_000_000, 10) + " s"
  }

  private static func milliseconds(_ nanoseconds: Int64) -> String {
    decimal(nanoseconds / 10_000, 100) + " ms"
  }

  private static func decimal(_ number: Int64, _ scale: Int64) -> String {
    let fraction = String(number % scale + scale).dropFirst()
    return "\(number / scale).\(fraction)"
  }

  /// The same for scripts; latency in nanoseconds, null where it is not known.
  package func json(_ event: String, after nanoseconds: Int64, latencySince since: String?) -> JSONValue {
    let known = since != nil && latency.count > 0
    let parts = Self.percentiles.map { name, part in
      (name, known ? JSONValue.optional(latency.percentile(part)) : .null)
    }
    return [
      "event": .string(event), "seconds": .number(Double(nanoseconds) / 1e9),
      "phones": phones.json, "online": online.json, "ready": ready.json, "connects": connects.json,
      "endings": .object(endings.sorted { $0.key < $1.key }.map { ($0.key, $0.value.json) }),
      "appsRemoved": appsRemoved.json, "removalsFailed": removalsFailed.json,
      "tokensRefused": tokensRefused.json, "notifications": notifications.json, "kept": kept.json,
      "reached": reached.json, "notificationSeconds": .number(Double(spanNanoseconds) / 1e9),
      "latency": .object(
        [("since", .optional(since)), ("count", latency.count.json)] + parts
          + [("max", known ? .integer(latency.longest) : .null)]),
    ]
  }
}

/// The time that a provider has written into a payload.
package enum SendStamp {
  /// Numbers from here on are milliseconds: as seconds they would be after the year 5000.
  private static let firstMilliseconds = 1e11

  /// UNIX seconds or milliseconds, with or without a fraction; nil if there is no such number.
  package static func time(in payload: [UInt8], member: String) -> Timestamp? {
    guard let number = JSONReader.read(payload)?.member(member)?.double else { return nil }
    let nanoseconds = number * (number >= firstMilliseconds ? 1e6 : 1e9)
    return Int64(exactly: nanoseconds.rounded()).map(Timestamp.init(nanoseconds:))
  }
}
