import Basics
import CourierWire
import Phones
import PushModel
import Transport

/// The phone of a simulated device, on its connection: reports come, orders and the time go.
///
///     listening ─ a report ─→ unread: the device is not listened to ─ it is its turn (`ReportReading`), and it is told ─→ listening
///         └─ one too many: the connection is dropped
final class CourierPhone: PhoneLink {
  private let udid: UDID
  private let service: CourierService
  private let connection: SocketConnection
  private let output: CourierOutput
  /// What it may tell unasked.
  private var allowance = PhoneReportAllowance()
  /// What it has told and nobody has read.
  private var unread: (telling: PhoneTelling, weight: Int64)?

  init(_ udid: UDID, _ service: CourierService, _ connection: SocketConnection, _ output: CourierOutput) {
    (self.udid, self.service, self.connection, self.output) = (udid, service, connection, output)
    tellTime()
    service.phones.connected(udid, self)
  }

  /// The device is not to be listened to.
  var hasUnread: Bool { unread != nil }
  /// What is held of its report, in bytes.
  var heldBytes: Int { unread.map { $0.telling.events.count + $0.telling.document.count } ?? 0 }
  /// What its report counts as; 0 if there is none.
  fileprivate var unreadWeight: Int64 { unread?.weight ?? 0 }

  /// It tells something, which is read now or in a later turn; false if that is too much.
  func reported(_ report: PhoneReport, _ instant: Instant) -> Bool {
    let telling = PhoneTelling(
      number: report.number, problem: report.problem, events: report.events, document: report.document,
      lost: report.lost ?? 0)
    let weight = PhoneReportAllowance.weight(report)
    guard service.phones.awaits(telling, from: udid, self) || allowance.takes(weight, at: instant) else {
      return false
    }
    unread = (telling, weight)
    service.reading.take(self)
    return true
  }

  /// It is the turn of what it has told.
  fileprivate func readReport() {
    guard let (telling, _) = unread else { return }
    let bytes = heldBytes
    unread = nil
    guard connection.isOpen else { return }
    output.inputWasRead(bytes: bytes)
    service.phones.told(telling, by: udid, self)
    if output.isFull { connection.notifyWhenDrained() } else { connection.setPaused(false) }
  }

  /// Says how late it is.
  func tellTime() {
    let now = UInt64(clamping: service.clock.now().nanoseconds)
    output.tell(PhoneOrderCommand(clock: .init(now: now, isFrozen: service.clock.frozenAt != nil)))
  }

  func order(_ order: [UInt8], number: UInt32) {
    allowance.expectOne()
    output.tell(PhoneOrderCommand(number: number, order: order))
  }

  func disconnected() {
    service.phones.disconnected(udid, self)
    unread = nil
  }
}

/// When the reports of phones are read: so much each turn, whoever they are from, in the order in which they came. What one
/// device may tell is its `PhoneReportAllowance`; this is so that many together don't take the loop.
package final class ReportReading {
  /// Most that is read in a turn, in reports as `PhoneReportAllowance` counts them: some 2 ms of one that is full of values. One that
  /// counts as more is read alone.
  private static let turnBudget: Int64 = 16

  private var left = turnBudget
  private var waiting = FIFO<CourierPhone>()

  /// A phone has a report: it is read now, or has to wait.
  fileprivate func take(_ phone: CourierPhone) {
    if waiting.isEmpty, left > 0 { read(phone) } else { waiting.append(phone) }
  }

  /// To be called once a turn: reads more. Answers whether some of it is left.
  package func readMore() -> Bool {
    left = Self.turnBudget
    while left > 0, !waiting.isEmpty { read(waiting.removeFirst()) }
    return !waiting.isEmpty
  }

  private func read(_ phone: CourierPhone) {
    left -= phone.unreadWeight
    phone.readReport()
  }
}
