import Basics
import Broker
import ConsoleAnswers
import Transport

/// Feeds event streams (server-sent events) from events of one order.
///
/// Watching must not slow the work: events are written in batches, over as many turns of the loop as that takes, each once
/// for all who watch, and of a flood only the newest of each batch. What was left out is said by a `gap` event, after
/// which a client loads what it shows again.
package final class EventPump: SlicedWork {
  /// How long events are gathered before they are written, in nanoseconds.
  static let interval: Int64 = 50_000_000
  /// How often a stream without events shows that it lives, in nanoseconds.
  static let heartbeatInterval: Int64 = 15_000_000_000
  /// Bytes of an event that was described before that are copied for one unit of a slice.
  private static let bytesCopied = 1024
  /// Most events of one batch, as a count: at twenty batches a second some per cent of one core.
  package static let batchLimit = 250
  /// Most events that a client that comes back is sent at once, as a count.
  static let catchUpLimit = 2000
  /// Bytes that a client may leave unread before it gets no more; it will find a gap.
  package static let unreadLimit = 1 << 20
  /// Most streams at once, as a count.
  package static let streamLimit = 100

  private let context: ConsoleContext
  private let feed: any EventFeed
  private var streams: [ObjectIdentifier: EventStream] = [:]
  /// Those that have something to be written.
  private var writing: [EventStream] = []
  private var isWriting = false
  /// What events of the present batch say, by their number: all who watch get the same.
  private var lines: [UInt64: String] = [:]
  private var timer: AnyObject?
  private var isTimerSet = false
  private var heartbeat: AnyObject?

  package init(_ feed: any EventFeed, _ context: ConsoleContext) {
    (self.feed, self.context) = (feed, context)
    feed.watch { [weak self] in self?.somethingHappened() }
  }

  package var streamCount: Int { streams.count }

  // MARK: Clients

  /// Answers `GET /api/v1/events`: with everything that happens from now on, or since an event that the client names. `begin` is
  /// called when the stream is to begin, and is told how many wait for that already.
  package func answer(
    _ request: ConsoleRequest, _ exchange: HTTPExchange, waiting: Int = 0,
    when begin: (@escaping () -> Void) -> Void = { $0() }
  ) throws {
    let position = try EventPosition.asked(by: request)
    guard request.http.method == "GET" else {
      return exchange.answer(
        HTTPResponse(status: 200, fields: [HTTPField("Content-Type", "text/event-stream")]))
    }
    try checkRoom(waiting)
    begin { [self] in
      guard exchange.isOpen else { return }
      exchange.refusing { try open(exchange, after: position) }
    }
  }

  /// Begins a stream. `position` is the client's last event; nil for one that wants only what happens from now on.
  private func open(_ exchange: HTTPExchange, after position: EventPosition?) throws {
    try checkRoom()
    feed.turnOn()
    let beginning = beginning(position)
    let stream = EventStream(exchange, next: beginning.next)
    streams[ObjectIdentifier(stream)] = stream
    exchange.whenGone { [unowned self, unowned stream] in streams[ObjectIdentifier(stream)] = nil }
    stream.start()
    // With an id of its own: who is cut off before anything happens can go on from here too.
    stream.send(
      id: id(stream.next - 1), "boot",
      EventDocument.object("boot", context.now(), [("boot", .string(context.boot))]))
    if beginning.isGap { stream.sendGap(id: id(stream.next - 1), missed: nil) }
    stream.flush()
    write([stream], limit: Self.catchUpLimit)
    if heartbeat == nil { beat() }
  }

  /// Throws if there is no room for one more besides those that are about to begin.
  private func checkRoom(_ beginning: Int = 0) throws {
    guard streams.count + beginning < Self.streamLimit else {
      throw ConsoleError.busy("\(Self.streamLimit) clients are watching already")
    }
  }

  /// The first event that a client wants, and whether it can't be told how much it has missed.
  private func beginning(_ position: EventPosition?) -> (next: UInt64, isGap: Bool) {
    guard let position else { return (feed.nextNumber, false) }
    // It has seen nothing of this boot, so it gets all that is remembered of it.
    guard (position.boot ?? context.boot) == context.boot else { return (feed.firstNumber, true) }
    return position.number < feed.nextNumber ? (position.number + 1, false) : (feed.nextNumber, true)
  }

  package func endAll() {
    for stream in streams.values { stream.end() }
    streams = [:]
  }

  // MARK: Writing

  /// There are new events: they are written soon.
  private func somethingHappened() {
    guard !streams.isEmpty, !isTimerSet else { return }
    isTimerSet = true
    timer = context.makeTimer(Self.interval) { [unowned self] in
      isTimerSet = false
      write(Array(streams.values), limit: Self.batchLimit)
    }
  }

  /// Lets streams have what they have not got, or of too much the newest.
  private func write(_ streams: [EventStream], limit: Int) {
    let next = feed.nextNumber
    let oldest = max(feed.firstNumber, next - min(next, UInt64(limit)))
    for stream in streams where stream.next < next && stream.hasRoom {
      skip(to: oldest, stream)
      if stream.next >= stream.goal { writing.append(stream) }
      stream.goal = next
    }
    guard !writing.isEmpty, !isWriting else { return }
    isWriting = true
    context.slices.add(self)
  }

  package func work(_ slice: inout Slice) -> SliceOutcome {
    while let stream = writing.first {
      guard !slice.isSpent else { return .goesOn }
      write(stream, &slice)
      guard stream.next >= stream.goal else { continue }
      writing.removeFirst()
    }
    (isWriting, lines) = (false, [:])
    return .done
  }

  private func write(_ stream: EventStream, _ slice: inout Slice) {
    // The ring may have gone on.
    skip(to: feed.firstNumber, stream)
    while stream.next < stream.goal, !slice.isSpent {
      if let line = line(stream.next, &slice) { stream.send(line) }
      stream.next += 1
    }
    stream.flush()
    // A client that has gone, or does not read, is left alone; the gap will say so.
    if !stream.isOpen || !stream.hasRoom { stream.goal = stream.next }
  }

  private func skip(to oldest: UInt64, _ stream: EventStream) {
    guard stream.next < oldest else { return }
    stream.sendGap(id: id(oldest - 1), missed: oldest - stream.next)
    stream.next = oldest
  }

  /// What a stream is sent of an event; described once.
  private func line(_ number: UInt64, _ slice: inout Slice) -> String? {
    if let line = lines[number] {
      slice.spend(Slice.look + line.utf8.count / Self.bytesCopied)
      return line
    }
    slice.spend(Slice.value)
    guard let (name, json) = feed.describe(number) else { return nil }
    let line = ServerSentEvent.line(id: id(number), name, json)
    slice.spend(line.utf8.count / Slice.bytesWritten)
    if lines.count < Self.catchUpLimit { lines[number] = line }
    return line
  }

  private func id(_ number: UInt64) -> String { "\(context.boot)-\(number)" }

  private func beat() {
    guard !streams.isEmpty else {
      heartbeat = nil
      return
    }
    for stream in streams.values { stream.beat() }
    heartbeat = context.makeTimer(Self.heartbeatInterval) { [unowned self] in beat() }
  }
}
