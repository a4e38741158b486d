import Capture
import Platform
import Transport

/// What a replay is told.
package struct ReplayOptions {
  package enum Form: String, CaseIterable, Sendable { case legacy, http2 }

  /// A factor of the recorded pace, or as fast as it goes.
  package enum Speed: Equatable, Sendable {
    case factor(Double)
    case maximum
  }

  /// Captures, the oldest first; `-` is standard input.
  let files: [String]
  /// Where pushes of a form go.
  let address: (Form) throws -> SocketAddress
  /// A service elsewhere, to which all of them go; nil for an emulator on this machine.
  package var target: SocketAddress?
  package var speed = Speed.factor(1)
  /// nil for that of each push.
  package var form: Form?
  package var mapping = ReplayMapping()
  /// How long nothing may be heard, in nanoseconds.
  package var timeout = Int64.max
  /// Called with what is left out of a capture, on any thread.
  package var warn: @Sendable (String) -> Void = { _ in }

  package init(_ files: [String], address: @escaping (Form) throws -> SocketAddress) {
    (self.files, self.address) = (files, address)
  }
}

/// Who replayed pushes come from.
package protocol ReplayCredentials: AnyObject {
  /// Whether all of them are to have a provider token of one key.
  var hasOwnKey: Bool { get }
  /// Whether there is a push certificate for a topic.
  func hasCertificate(_ topic: String) -> Bool
  /// A context with the certificate of a topic; without one if nil.
  func context(_ topic: String?, maximum: TLSPolicy.Version) throws -> TLSContext
  /// What to send as `authorization` where the capture has `digest`; nil for nothing.
  func authorization(_ digest: String, topic: String, _ recorded: CapturedOutcome) throws -> String?
  /// An `authorization` for pushes to a topic that were recorded without one.
  func authorization(topic: String) throws -> String
}

/// Who is told how a replay goes.
package protocol ReplayObserver: AnyObject {
  var report: ReplayReport { get set }
  /// Why something could not be told; the replay ends then.
  var failure: (any Error)? { get }
  /// What has become of a push.
  func settled(_ push: ReplayedPush)
  /// So many bytes of the captures have been read; the size is 0 where it can't be told.
  func progress(_ done: Int, of size: Int)
  /// To be called now and then: tells what waits.
  func flush()
}

/// Why a replay can't go on.
package enum ReplayFailure: Error, CustomStringConvertible {
  /// A sentence without a full stop.
  case sentence(String)
  /// Nobody takes connections there.
  case unreachable(SocketAddress, String)

  package var description: String {
    switch self {
    case .sentence(let sentence): sentence
    case .unreachable(let address, let why): "\(address): \(why)"
    }
  }
}
