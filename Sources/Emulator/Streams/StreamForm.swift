import Broker
import Console
import PushModel

/// How a stream says what it has to say.
enum StreamForm {
  /// Events of the console's API.
  case console
  /// As the simulated devices of Fleet's load test read them (`Documentation/mdm.md#fleets-load-test`): each push one event, its
  /// data the payload as it was sent.
  case fleet

  /// How often a reader that nothing comes for gets a sign of life, in nanoseconds. Fleet's is Fleet's; the console's is that of
  /// its other streams.
  var beatInterval: Int64 {
    switch self {
    case .console: 15_000_000_000
    case .fleet: 30_000_000_000
    }
  }

  /// The sign of life.
  var beat: [UInt8] { ServerSentEvent.comment(self == .fleet ? "keepalive" : "") }

  /// A notification.
  func bytes(_ message: OutgoingNotification, _ document: StreamDocument, now: Timestamp) -> [UInt8] {
    switch self {
    case .console: document.push(message, now: now)
    case .fleet: ServerSentEvent.bytes("ping", data: message.content.payload)
    }
  }
}
