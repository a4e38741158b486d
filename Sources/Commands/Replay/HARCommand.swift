import Capture
import PushModel

/// `har`: the requests of a capture as an HTTP archive, on standard output. Frames are left out; they are no HTTP.
enum HARCommand {
  static func run(_ settings: Settings) throws -> ExitStatus {
    let source = CaptureSource(settings.arguments)
    let batch = CaptureBatch()
    var start = Timestamp(nanoseconds: 0)
    var separator = ""
    var hosts: [UInt32: String] = [:]
    // Nothing is printed for a file that can't be read at all.
    var lines = HARDocument.head(software: Program.version) + "\n"
    while try source.next(batch) {
      for entry in batch.entries {
        switch entry.kind {
        case .header: start = Timestamp(rfc3339: batch.starts[Int(entry.detail)]) ?? start
        case .opened:
          let connection = batch.connections[Int(entry.detail)]
          hosts[connection.number] = connection.environment.host(of: "api")
        case .closed: hosts[entry.connection] = nil
        case .request:
          let host = hosts[entry.connection] ?? "localhost"
          lines += separator + HARDocument.entry(entry, of: batch, start: start, host: host).text
          separator = ",\n"
        case .frame, .lost: break
        }
      }
      if !lines.isEmpty { try Output.text(lines) }
      lines = ""
    }
    try Output.line(lines + "\n" + HARDocument.tail)
    return .success
  }
}
