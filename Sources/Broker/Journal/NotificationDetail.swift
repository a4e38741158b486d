import Basics
import PushModel

/// What only some notifications have.
public final class NotificationDetail {
  private enum Words {
    case none
    case text(String)
    case facts(Explanation)
  }

  private var words: Words
  /// Where it was forwarded to; nil for what is decided here.
  public var upstream: String?
  /// What kept it from being taken or answered, if that was done on purpose.
  public var fault: InjectedFault?
  /// How much there was of it; nil if it is here whole.
  var fullSize: FullSize?

  public init(explanation: String? = nil, upstream: String? = nil, fault: InjectedFault? = nil) {
    words = explanation.map(Words.text) ?? .none
    (self.upstream, self.fault) = (upstream, fault)
  }

  /// Of a notification that was refused; nothing is written out until somebody asks.
  public init(_ explanation: Explanation, fault: InjectedFault? = nil) {
    words = .facts(explanation)
    self.fault = fault
  }

  /// Which rule refused it, what was expected and what came. Never a secret.
  public var explanation: String? {
    get {
      switch words {
      case .none: nil
      case .text(let text): text
      case .facts(let facts): facts.text
      }
    }
    set { words = newValue.map(Words.text) ?? .none }
  }
}

/// How much there was of a notification of which the history has only a part, in bytes.
public struct FullSize: Equatable, Sendable {
  /// Of the frame on the binary protocol, of the body elsewhere.
  public var raw: Int
  public var payload: Int
}

/// The fault that was injected into a notification, for those who look at what became of it.
public struct InjectedFault: Sendable {
  /// The rule's name, or the magic word.
  public var name: String
  /// As rules write it.
  public var effect: JSONValue
  /// Whether the provider was answered. Else the connection or the stream went wrong, and the record's rejection, if there is
  /// one, says no more than that the notification was not taken.
  public var isAnswered: Bool

  public init(name: String, effect: JSONValue, isAnswered: Bool) {
    (self.name, self.effect, self.isAnswered) = (name, effect, isAnswered)
  }
}
