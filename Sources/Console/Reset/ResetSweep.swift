import Broker
import PushModel

/// Does most of what a reset takes away bit by bit, and what is left, or has come meanwhile, at its end.
final class ResetSweep: SlicedWork {
  /// Entries of the feedback service, connections or channels that go at a time, as a count.
  private static let atOnce = 16
  /// What ending one of these takes with what comes of it, in units of `Slice`: closing a connection of TLS, or writing a row.
  private static let each = 8

  private let context: ConsoleContext
  private let then: () -> Void
  /// What is swept of each part, one after the other.
  private var sweeps: [(inout Slice) -> Bool] = []

  private var broker: Broker { context.broker }

  init(_ parts: Set<ResetPart>, _ context: ConsoleContext, then: @escaping () -> Void) {
    (self.context, self.then) = (context, then)
    if parts.contains(.feedback) { addFeedback() }
    if parts.contains(.store) || parts.contains(.devices) { addMessages() }
    if parts.contains(.channels) { addChannels() }
    // Of several nodes each forgets them when the order reaches it.
    if parts.contains(.devices), context.orders == nil { addSessions() }
  }

  func work(_ slice: inout Slice) -> SliceOutcome {
    while !slice.isSpent, let sweep = sweeps.first {
      slice.spend(Slice.look)
      if !sweep(&slice) { sweeps.removeFirst() }
    }
    guard sweeps.isEmpty else { return .goesOn }
    then()
    return .done
  }

  /// Those that wait now.
  private func addFeedback() {
    let broker = broker
    var rows = broker.feedback.rows[...]
    let generation = broker.registry.generation
    sweeps.append { slice in
      // Another reset has forgotten the devices, and their entries with them: the rows are gone, or somebody else's.
      guard broker.registry.generation == generation else { return false }
      slice.spend(Self.each * Self.atOnce)
      broker.feedback.clear(rows.prefix(Self.atOnce).filter { broker.zones.leads(broker.registry[$0].zone) })
      rows = rows.dropFirst(Self.atOnce)
      return !rows.isEmpty
    }
    var foreign = broker.feedback.foreign.entries[...]
    sweeps.append { slice in
      slice.spend(Self.each * Self.atOnce)
      broker.feedback.clearForeign(foreign.prefix(Self.atOnce).map(\.id))
      foreign = foreign.dropFirst(Self.atOnce)
      return !foreign.isEmpty
    }
  }

  private func addMessages() {
    var row: Int? = 0
    sweeps.append { [context] _ in
      row = context.broker.deliveries.dropStored(from: row ?? 0, budget: Slice.rowsSwept, now: context.now())
      return row != nil
    }
  }

  /// As many as there are now: somebody may go on making some.
  private func addChannels() {
    let broker = broker
    var left = broker.channels.count
    sweeps.append { slice in
      slice.spend(Self.each * Self.atOnce)
      left -= Self.atOnce
      return broker.channels.deleteSome(Self.atOnce) && left > 0
    }
  }

  private func addSessions() {
    var place: Int? = 0
    sweeps.append { [context] slice in
      slice.spend(Self.each * Self.atOnce)
      place = context.broker.devices.endSessions(from: place ?? 0, budget: Self.atOnce, now: context.now())
      return place != nil
    }
  }
}
