import Basics
import PushModel

/// Names a live session; the number goes to another one later.
struct SessionID: RowID {
  let number: Int32
}

/// The live sessions of devices, and what this turn handed to them.
final class LiveSessions {
  /// Most entries of a turn's lists whose memory is kept for the next turn, as a count.
  private static let keptCapacity = 1 << 16

  private var sessions = PlainTable<SessionID, DeviceSession?>()
  private var free: [SessionID] = []
  /// Rows handed to a connection in this turn by providers that hear nothing of success.
  private var untold = PlainTable<TablePlace, RegistrationID>()
  /// Rows handed to a connection in this turn by providers that are told so at its end.
  private var told = PlainTable<TablePlace, RegistrationID>()
  /// The sessions that were handed any of those, each once, and the number of the turn.
  private var used: [DeviceSession] = []
  private var turn: UInt64 = 1
  /// A provider on the gateway learns in this turn how far it got, earlier turns included.
  private var tellsOfEarlier = false

  // MARK: Sessions

  @inline(__always)
  subscript(id: SessionID) -> DeviceSession? { sessions[id] }

  /// All that are live.
  var live: [DeviceSession] { live(from: 0, budget: .max).0 }

  /// Those of so many places from one on that are live, and the next place; nil after the last.
  func live(from start: Int, budget: Int) -> ([DeviceSession], next: Int?) {
    let end = start + min(budget, sessions.count - start)
    guard start < end else { return ([], nil) }
    return ((start..<end).compactMap { sessions[SessionID($0)] }, end < sessions.count ? end : nil)
  }

  func open(_ device: DeviceID, _ environment: Environment, _ link: DeviceLink, at now: Timestamp)
    -> DeviceSession
  {
    let id = free.popLast() ?? addPlace()
    let session = DeviceSession(
      id: id, device: device, environment: environment, link: link, connectedAt: now)
    _ = exchange(&sessions[id], with: session)
    return session
  }

  private func addPlace() -> SessionID {
    if sessions.isFull {
      let full = exchange(&sessions, with: PlainTable(capacity: 0))
      _ = exchange(&sessions, with: full.grown())
    }
    return sessions.append(nil)
  }

  func close(_ session: DeviceSession) {
    session.isLive = false
    _ = exchange(&sessions[session.id], with: nil)
    free.append(session.id)
  }

  // MARK: The turn

  /// A notification is about to be handed to a connection.
  @inline(__always)
  func use(_ session: DeviceSession) {
    guard session.turn != turn else { return }
    session.turn = turn
    used.append(session)
  }

  /// A row's notification is in its slot, and on its way on a session that is in use.
  @inline(__always)
  func noteSent(_ row: RegistrationID, from interface: Interface) {
    if untold.isFull || told.isFull { makeRoom() }
    if interface == .gateway { untold.append(row) } else { told.append(row) }
  }

  @inline(never)
  private func makeRoom() {
    if untold.isFull {
      let full = exchange(&untold, with: PlainTable(capacity: 0))
      _ = exchange(&untold, with: full.grown())
    }
    if told.isFull {
      let full = exchange(&told, with: PlainTable(capacity: 0))
      _ = exchange(&told, with: full.grown())
    }
  }

  /// A provider on the gateway is told in this turn how far it got.
  func gatewayAnswers() { tellsOfEarlier = true }

  /// Ends the turn; answers the rows whose notifications, as far as they are on their way, the death of this process would lose
  /// although their providers take them for accepted. `route` answers where a row's notifications go.
  ///
  /// Success is silent on the gateway, so what was sent from there may wait in the system's buffers until a provider
  /// learns how far it got: writing every notification to a busy device would cost a third of the throughput.
  @inline(__always)
  func takeAtRisk(_ route: (RegistrationID) -> SessionID?) -> [RegistrationID] {
    var rows = mayLose ? rowsAtRisk(route) : []
    if tellsOfEarlier {
      for session in live where session.link.window.hasUnsettled && session.link.mayLoseOutput {
        rows += session.link.takeUnsettled()
      }
    }
    forgetTurn()
    return rows
  }

  /// Whether any session that was used in this turn, and has not ended, has something at risk: seldom, as systems have room.
  private var mayLose: Bool {
    used.contains { session in
      session.isLive && (session.link.hasUnsent || told.count > 0 && session.link.mayLoseOutput)
    }
  }

  private func rowsAtRisk(_ route: (RegistrationID) -> SessionID?) -> [RegistrationID] {
    func link(_ row: RegistrationID) -> DeviceLink? { route(row).flatMap { self[$0]?.link } }
    return (0..<untold.count).map { untold[TablePlace($0)] }.filter { link($0)?.hasUnsent == true }
      + (0..<told.count).map { told[TablePlace($0)] }.filter { link($0)?.mayLoseOutput == true }
  }

  /// Nothing has been handed over.
  func forgetTurn() {
    turn &+= 1
    used.removeAll(keepingCapacity: true)
    if untold.count < Self.keptCapacity {
      untold.removeAll()
    } else {
      _ = exchange(&untold, with: PlainTable())
    }
    if told.count < Self.keptCapacity { told.removeAll() } else { _ = exchange(&told, with: PlainTable()) }
    tellsOfEarlier = false
  }
}

/// One identity of a device on a live connection.
public final class DeviceSession {
  let id: SessionID
  public let device: DeviceID
  public let environment: Environment
  public let link: DeviceLink
  /// The connection, which lets its sessions go when it ends.
  public let outlet: any CourierOutlet
  public let connectedAt: Timestamp
  /// The turn in which it was handed a notification last, by the count of `LiveSessions`.
  var turn: UInt64 = 0
  /// Topics that the device wants now.
  public internal(set) var enabled: [TopicHash] = []
  /// It has said so at least once.
  var hasFilter = false
  /// It has not ended.
  fileprivate(set) var isLive = true
  /// Rows of apps that were taken off the phone since it said so last: whether it has to report them, the next time tells.
  var abandoned: Set<RegistrationID> = []

  /// Broadcast channels that it listens to, by row.
  var joined: [Int64: ChannelMembership] = [:]

  init(
    id: SessionID, device: DeviceID, environment: Environment, link: DeviceLink, connectedAt: Timestamp
  ) {
    (self.id, self.device, self.environment) = (id, device, environment)
    (self.link, self.connectedAt) = (link, connectedAt)
    outlet = link.outlet
  }
}
