import PushModel

/// A notification that a person (or a replay in the browser) sends through the console.
public struct TestPush: Sendable {
  /// How it is spoken.
  public enum Form: String, Sendable, CaseIterable {
    /// The HTTP/2 provider request.
    case http2
    /// A frame of the binary protocol.
    case legacy
  }

  public var form = Form.http2
  /// As presented; may have any length up to 100 bytes.
  public var token: [UInt8]
  public var topic: Topic
  public var environment: Environment
  public var payload: [UInt8] = []
  /// Whether the priority may be sent is for the checks to say.
  public var priority: UInt8?
  /// UNIX seconds; nil for none.
  public var expiration: UInt32?
  /// Of HTTP/2.
  public var pushType: PushType?
  public var collapseID: String?
  public var apnsID: String?
  /// Of the binary protocol.
  public var command: UInt8 = 2
  public var identifier: UInt32 = 0

  public init(token: [UInt8], topic: Topic, environment: Environment) {
    (self.token, self.topic, self.environment) = (token, topic, environment)
  }
}
