import Basics
import PushModel

/// What goes wrong, one or several at once (`Documentation/faults.md#rules`). They reach the wire: whoever owns the
/// connection carries them out.
public struct FaultEffects: Equatable, JSONDocument {
  /// Holds the push up: it is taken, and answered, when the delay is over.
  public struct Delay: Equatable, Sendable {
    public var milliseconds: Int64
    /// At most so much more, drawn from the seed.
    public var jitterMilliseconds: Int64

    public init(milliseconds: Int64 = 0, jitterMilliseconds: Int64 = 0) {
      (self.milliseconds, self.jitterMilliseconds) = (milliseconds, jitterMilliseconds)
    }
  }

  /// Lets the answer out in small pieces.
  public struct Dribble: Equatable, Sendable {
    public var bytes: Int
    public var everyMilliseconds: Int64

    public init(bytes: Int = 1, everyMilliseconds: Int64 = 100) {
      (self.bytes, self.everyMilliseconds) = (bytes, everyMilliseconds)
    }

    public var everyNanoseconds: Int64 { everyMilliseconds * 1_000_000 }
  }

  /// An error packet of the binary protocol.
  public struct LegacyError: Equatable, Sendable {
    public var status: UInt8
    /// Another identifier than that of the notification; nil for its own.
    public var identifier: UInt32?

    public init(status: UInt8, identifier: UInt32? = nil) {
      (self.status, self.identifier) = (status, identifier)
    }
  }

  /// A GOAWAY frame, with a reason in its debug data.
  public struct GoAway: Equatable, Sendable {
    /// The last stream that it names.
    public enum LastStream: String, Sendable, CaseIterable {
      /// The highest that was judged.
      case judged
      /// None: as though nothing had been looked at.
      case zero
      /// The highest that was opened; all up to it are answered.
      case highest
    }

    public var reason: String?
    public var lastStream: LastStream
    /// The connection does not end, and streams above the last are refused.
    public var keepsOpen: Bool

    public init(reason: String? = nil, lastStream: LastStream = .judged, keepsOpen: Bool = false) {
      (self.reason, self.lastStream, self.keepsOpen) = (reason, lastStream, keepsOpen)
    }
  }

  /// What is done to the device's side.
  public enum Courier: String, Sendable, CaseIterable {
    /// The device's connection ends.
    case drop
    /// Nothing more is sent to the device, and nothing it says is heard.
    case stall
  }

  /// Rejects the notification with this reason, on either interface.
  public var reason: Rejection?
  public var delay: Delay?
  public var dribble: Dribble?
  public var legacy: LegacyError?
  /// TCP RST.
  public var resetsConnection = false
  /// RST_STREAM with this code (RFC 9113 7).
  public var resetStream: UInt32?
  /// So many bytes that mean nothing, instead of an answer.
  public var garbage: Int?
  public var goAway: GoAway?
  /// Our side of the connection ends.
  public var halfCloses = false
  /// The push is taken before its connection breaks.
  public var takesPush = false
  /// The connection stays open, and nothing more is read or written.
  public var stalls = false
  /// Streams that the client may have open from this push on.
  public var streamLimit: Int?
  /// A TLS alert with this description (RFC 8446 6.2), then the end.
  public var tlsAlert: UInt8?
  /// A new connection is closed at once.
  public var refuses = false
  /// Streams that the client of a new connection may have open.
  public var initialStreamLimit: Int?
  public var courier: Courier?

  public init() {}

  /// Longest wait that may be asked for, in milliseconds.
  private static let longestWait: Int64 = 600_000
  private static let waits = JSONKind<Int64>.whole(0...longestWait)
  /// Most bytes of garbage, and most bytes of one dribbled piece, that a rule may ask for.
  private static let mostBytes: Int64 = 1 << 20
  /// Most bytes of garbage that a token may ask for.
  private static let mostGarbage = 1 << 16
  /// The highest stream limit that is ever announced (`Documentation/provider-api.md#settings`).
  private static let mostStreams = 1000
  private static let streams = JSONKind<Int>.whole(0...Int64(mostStreams))

  /// All that there is to say of each effect. Of those that break a connection the first counts.
  public static let all: [FaultEffect] = [
    FaultEffect("reason", at: .push, [JSONField("reason", .reason, \.reason)]),
    FaultEffect(
      "delay", at: .push,
      [
        JSONField(
          "delayMs", waits, get: { $0.delay?.milliseconds }, set: { $0.delay = Delay(milliseconds: $1) }),
        JSONField(
          "jitterMs", waits,
          get: { $0.delay.flatMap { $0.jitterMilliseconds > 0 ? $0.jitterMilliseconds : nil } },
          set: { $0.delay = Delay(milliseconds: $0.delay?.milliseconds ?? 0, jitterMilliseconds: $1) }),
      ],
      magicWord: "delay"
    ) { effects, value in
      effects.delay = value.flatMap(Int64.init).flatMap {
        (0...longestWait).contains($0) ? Delay(milliseconds: $0) : nil
      }
    },
    FaultEffect(
      "dribble", at: .push,
      [
        JSONField(
          "dribble",
          JSONForm([
            JSONField("bytes", .whole(1...mostBytes), \Dribble.bytes),
            JSONField("everyMs", .whole(1...longestWait), \.everyMilliseconds),
          ]).kind(Dribble()), \.dribble)
      ]),
    FaultEffect(
      "legacy", at: .push,
      [
        JSONField(
          "legacy",
          JSONForm([
            JSONField("status", .whole, \LegacyError.status).needed,
            JSONField("identifier", .whole, \.identifier),
          ]).kind(LegacyError(status: 0)), \.legacy)
      ],
      magicWord: "legacy"
    ) { $0.legacy = $1.flatMap { UInt8($0) }.map { LegacyError(status: $0) } },
    FaultEffect(
      "reset", at: .push, [JSONField(flag: "reset", \.resetsConnection)],
      magicWord: "reset", { $0.resetsConnection = $1 == nil },
      breaks: { decision, _ in decision.effects.resetsConnection ? .reset : nil }),
    FaultEffect(
      "rstStream", at: .push, [JSONField("rstStream", .whole, \.resetStream)],
      magicWord: "rst", { $0.resetStream = $1.flatMap { UInt32($0) } },
      breaks: { decision, channel in
        decision.effects.resetStream.map { channel == .streams ? .resetStream($0) : .reset }
      }),
    FaultEffect(
      "garbage", at: .push, [JSONField("garbage", .whole(1...mostBytes), \.garbage)],
      magicWord: "garbage",
      { $0.garbage = $1.flatMap { Int($0) }.flatMap { (1...mostGarbage).contains($0) ? $0 : nil } },
      breaks: { decision, _ in decision.garbage.isEmpty ? nil : .garbage(decision.garbage) }),
    FaultEffect(
      "goaway", at: .push,
      [
        JSONField(
          "goaway",
          JSONForm([
            JSONField("reason", .text, \GoAway.reason),
            JSONField(
              "lastStream", .word, get: { $0.lastStream == .judged ? nil : $0.lastStream },
              set: { $0.lastStream = $1 }), JSONField(flag: "keepsOpen", \.keepsOpen),
          ]).kind(GoAway()), \.goAway)
      ],
      magicWord: "goaway"
    ) { $0.goAway = GoAway(reason: $1) },
    FaultEffect(
      "halfClose", at: .push, [JSONField(flag: "halfClose", \.halfCloses)],
      magicWord: "close"
    ) { $0.halfCloses = $1 == nil },
    FaultEffect("taken", at: .push, [JSONField(flag: "taken", \.takesPush)]),
    FaultEffect(
      "streamLimit", at: .push, [JSONField("streamLimit", streams, \.streamLimit)],
      magicWord: "streams"
    ) { effects, value in
      effects.streamLimit = value.flatMap { Int($0) }.flatMap { (0...mostStreams).contains($0) ? $0 : nil }
    },
    FaultEffect("stall", at: .push, [JSONField(flag: "stall", \.stalls)], magicWord: "stall") {
      $0.stalls = $1 == nil
    },
    FaultEffect("tlsAlert", at: .connection, [JSONField("tlsAlert", .whole, \.tlsAlert)]),
    FaultEffect("refuse", at: .connection, [JSONField(flag: "refuse", \.refuses)]),
    FaultEffect(
      "initialStreamLimit", at: .connection,
      [JSONField("initialStreamLimit", streams, \.initialStreamLimit)]),
    FaultEffect(
      "courier", at: .delivery, [JSONField("courier", .word(expected: "drop or stall"), \.courier)]),
  ]
}

/// What there is to say of one effect: when it is injected, how rules and tokens ask for it, how it breaks a connection.
public struct FaultEffect: Sendable {
  typealias Breakage = @Sendable (FaultEngine.Decision, FaultChannel) -> FaultBreakage?

  /// As injections are counted.
  let name: String
  let stage: FaultStage
  /// Members of a rule's `effect`.
  let fields: [JSONField<FaultEffects>]
  /// How a magic token asks for it; nil if none can.
  public let magicWord: String?
  /// Takes what stands behind `=` in the magic word; leaves the effects as they are if it makes no sense.
  let grant: @Sendable (inout FaultEffects, String?) -> Void
  /// How it breaks such a connection; nothing is answered then.
  let breakage: Breakage

  init(
    _ name: String, at stage: FaultStage, _ fields: [JSONField<FaultEffects>], magicWord: String? = nil,
    _ grant: @escaping @Sendable (inout FaultEffects, String?) -> Void = { _, _ in },
    breaks breakage: @escaping Breakage = { _, _ in nil }
  ) {
    (self.name, self.stage, self.fields) = (name, stage, fields)
    (self.magicWord, self.grant, self.breakage) = (magicWord, grant, breakage)
  }
}

extension FaultEffects {
  /// As requests write them.
  public static let form = JSONForm(all.flatMap(\.fields), rules: [("minProperties", 1)])
  /// The names that injections are counted by, of all effects.
  public static let names = all.map(\.name)

  /// What these effects do.
  private var present: [FaultEffect] {
    Self.all.filter { $0.fields.contains { $0.isWritten(self) } }
  }

  public var names: [String] { present.map(\.name) }

  /// Where a rule with these effects is looked at; nil if they don't belong to one moment, or are none.
  public var stage: FaultStage? {
    let stages = Set(present.map(\.stage))
    return stages.count == 1 ? stages.first : nil
  }

  /// Whether they are about connections that speak HTTP/2, and do nothing to others.
  var needsStreams: Bool { initialStreamLimit != nil && !refuses && tlsAlert == nil }

  /// What a push can be taken before.
  private static let breaks = ["reset", "rstStream", "garbage", "halfClose", "goaway"]

  /// Refuses what would do nothing: nobody would see why.
  func check(place: String) throws(DocumentError) {
    let names = names
    guard takesPush, Set(Self.breaks).isDisjoint(with: names) else { return }
    throw DocumentError(
      "\(place).taken: expected one of \(Self.breaks.joined(separator: ", ")) beside it, "
        + "got \(names.count == 1 ? "none" : names.filter { $0 != "taken" }.joined(separator: ", "))")
  }
}

/// The moments at which something can go wrong.
public enum FaultStage: String, Sendable, CaseIterable {
  /// A client has connected.
  case connection
  /// A notification has come in, or a channel management request.
  case push
  /// A message is about to be handed to a device.
  case delivery
}
