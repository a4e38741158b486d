import Basics
import Platform

/// The program's own output: lines on standard output, complaints on standard error.
///
/// What can't be written is a failure of the command: nobody is told of a success that they have nothing of. A reader that
/// has gone has all it wants, and hears no complaint.
package enum Output {
  /// One line, at once: whoever reads a pipe waits for it. Answers whether anybody reads.
  @discardableResult
  package static func line(_ text: String) throws(CommandFailure) -> Bool { try self.text(text + "\n") }

  /// Text that is no whole line yet. Answers whether anybody reads.
  @discardableResult
  static func text(_ text: String) throws(CommandFailure) -> Bool {
    switch write(text, to: StandardDescriptors.output) {
    case 0: return true
    case let code where WholeOutput.isUnread(code): return false
    case let code: throw failure(code)
    }
  }

  static func failure(_ code: Int32) -> CommandFailure {
    CommandFailure("can't write to standard output: \(SocketCalls.sentence(code))")
  }

  /// Waits only so long for somebody to read it, in nanoseconds: `serve` must end with its status anyway.
  package static func complain(_ text: String) {
    complaints.add(line: "apns-emulator: \(text)")
    complaints.drain(within: complaintTimeout)
  }

  private static let complaints = BackgroundOutput(StandardDescriptors.error)
  private static let complaintTimeout: Int64 = 2_000_000_000

  /// Text on standard error as it is, for what is drawn over again.
  static func status(_ text: String) { _ = write(text, to: StandardDescriptors.error) }

  /// Answers the error number of what went wrong, 0 for nothing.
  private static func write(_ text: String, to descriptor: Int32) -> Int32 {
    WholeOutput.write(Array(text.utf8).span, to: descriptor).error
  }
}

/// JSON for people: what fits on a line stays on one.
package enum IndentedJSON {
  /// Longest line that is not broken, in bytes, its indentation left aside.
  private static let width = 100

  package static func text(_ value: JSONValue, indent: String = "") -> String {
    let line = value.text
    guard line.utf8.count > width || indent.isEmpty else { return line }
    let inner = indent + "  "
    switch value {
    case .array(let values) where !values.isEmpty:
      return block("[", values.map { text($0, indent: inner) }, "]", indent)
    case .object(let members) where !members.isEmpty:
      return block(
        "{", members.map { "\(JSONValue.string($0.0).text): \(text($0.1, indent: inner))" }, "}", indent)
    default: return line
    }
  }

  private static func block(_ open: String, _ lines: [String], _ close: String, _ indent: String) -> String {
    "\(open)\n" + lines.map { "\(indent)  \($0)" }.joined(separator: ",\n") + "\n\(indent)\(close)"
  }
}

/// Rows of cells as aligned lines.
package enum TextTable {
  /// One line a row, columns two spaces apart, nothing after the last cell.
  package static func lines(_ rows: [[String]]) -> [String] {
    let count = rows.map(\.count).max() ?? 0
    let widths = (0..<count).map { column in rows.map { $0.dropFirst(column).first?.count ?? 0 }.max() ?? 0 }
    return rows.map { row in
      let padded = zip(row, widths).map { cell, width in
        cell + String(repeating: " ", count: width - cell.count)
      }
      let line = padded.joined(separator: "  ")
      return String(line.prefix(line.count - line.reversed().prefix { $0 == " " }.count))
    }
  }
}
