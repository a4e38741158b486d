import LegacyWire
import PushModel

extension LegacyWindow {
  /// The connection has ended, with a packet or without. Answers whether that says anything; what was sent and is not
  /// settled must be sent again either way. Those that met silence as they did when recorded are only counted, in
  /// `silences`.
  public mutating func connectionEnded(_ packet: LegacyErrorPacket?, _ settle: (Settled) -> Void) -> Bool {
    defer {
      sent = head
      compact()
    }
    guard hasSent else { return false }
    guard let packet else {
      part()
      return closed(settle)
    }
    if isOfFence(packet) {
      allowance = allowance >= Self.trustedBurst ? .max : allowance * 2
      accept(upTo: sent, settle)
      return true
    }
    part()
    if packet.status == Rejection.shutdown.legacyStatus { return shutDown(packet, settle) }
    return rejected(candidates { matches($0, packet.identifier) }, settle) {
      CapturedOutcome(status: Int(packet.status), identifier: packet.identifier)
    }
  }

  /// Whether a packet is about the fence. Frames that are kept together are looked at only if the status is not what a
  /// fence's token asks for: one that met silence, has the fence's very identifier and is refused for its token's size
  /// is not to be feared.
  private mutating func isOfFence(_ packet: LegacyErrorPacket) -> Bool {
    guard packet.identifier == fence else { return false }
    if packet.status == Rejection.invalidTokenSize.legacyStatus { return true }
    part()
    return !items[head..<sent].contains { !$0.isSimple && $0.identifier == fence }
  }

  /// Nobody can say what became of what was sent: it counts as `outcome`.
  public mutating func giveUp(_ outcome: CapturedOutcome, _ settle: (Settled) -> Void) {
    part()
    while head < sent { settleHead(outcome, settle) }
    compact()
  }

  /// Only a bad command 0 ends a connection without a packet (`Documentation/binary-protocol.md#error-packet`).
  private mutating func closed(_ settle: (Settled) -> Void) -> Bool {
    rejected(candidates { $0.isSimple }, settle) {
      var outcome = CapturedOutcome(status: 0)
      outcome.isClosed = true
      return outcome
    }
  }

  /// Maintenance: the identifier is that of the last one that was accepted.
  private mutating func shutDown(_ packet: LegacyErrorPacket, _ settle: (Settled) -> Void) -> Bool {
    let last = items[head..<sent].lastIndex { !$0.isSimple && $0.identifier == packet.identifier }
    guard let last else { return false }
    accept(upTo: last + 1, settle)
    return true
  }

  func matches(_ item: Item, _ identifier: UInt32) -> Bool {
    !item.isSimple && item.identifier == identifier || identifier == 0 && item.mayBeUnnamed
  }

  private func candidates(_ isOne: (Item) -> Bool) -> [Int] {
    let found = (head..<sent).filter { isOne(items[$0]) }
    // Alone on its connection: whatever is said is said of it.
    return found.isEmpty && sent == head + 1 ? [head] : found
  }

  private mutating func rejected(
    _ candidates: [Int], _ settle: (Settled) -> Void, _ outcome: () -> CapturedOutcome
  ) -> Bool {
    guard let first = candidates.first, let last = candidates.last else { return false }
    accept(upTo: first, settle)
    if first == last {
      allowance = Self.carefulBurst
      settleHead(outcome(), settle)
    } else {
      careful = max(careful, last + 1 - first)
    }
    return true
  }

  private mutating func accept(upTo end: Int, _ settle: (Settled) -> Void) {
    while head < end {
      if items[head].recorded < 0 {
        silences += items[head].frames
        dropHead()
      } else {
        settleHead(.silence, settle)
      }
    }
  }

  /// Those counted since the last call.
  public mutating func takeSilences() -> Int {
    defer { silences = 0 }
    return silences
  }

  @inline(__always)
  private mutating func dropHead() {
    if careful > 0 { careful -= 1 }
    if items[head].isSimple { simpleCount -= 1 }
    if items[head].frames > 1 { joined -= 1 }
    head += 1
  }

  private mutating func settleHead(_ outcome: CapturedOutcome, _ settle: (Settled) -> Void) {
    let item = items[head]
    dropHead()
    let recorded = item.recorded < 0 ? CapturedOutcome.silence : outcomes[Int(item.recorded)]
    settle(
      Settled(
        tag: item.tag, identifier: item.isSimple ? nil : item.identifier, recorded: recorded, outcome: outcome
      ))
  }

  /// Moves what is left to the front once less than half of it is; the memory is used again.
  private mutating func compact() {
    guard head > 0, head * 2 >= items.count else { return }
    let start = head < items.count ? items[head].start : bytes.count
    bytes.removeFirst(start)
    items.removeSubrange(..<head)
    let settled = items.first { $0.recorded >= 0 }.map { Int($0.recorded) } ?? outcomes.count
    outcomes.removeFirst(settled)
    for index in items.indices {
      items[index].start -= start
      if items[index].recorded >= 0 { items[index].recorded -= Int32(settled) }
    }
    (head, sent) = (0, 0)
  }
}
