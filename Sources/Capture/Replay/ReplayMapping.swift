import Basics
import PushModel

/// Which topics and tokens become others when a capture is sent again.
public struct ReplayMapping: Equatable, Sendable {
  public var topics: [String: String] = [:]
  public var tokens: [[UInt8]: [UInt8]] = [:]

  public init() {}

  public func topic(_ topic: String) -> String { topics[topic] ?? topic }
  public func token(_ token: [UInt8]) -> [UInt8] { tokens[token] ?? token }

  /// Adds `old=new` for topics; false if that is none.
  public mutating func addTopic(_ text: String) -> Bool {
    let names = text.split(separator: "=", omittingEmptySubsequences: false).map { Topic(String($0)) }
    guard names.count == 2, let old = names[0], let new = names[1] else { return false }
    topics[old.name] = new.name
    return true
  }

  /// Adds `old=new` for tokens, in hexadecimal; false if that is none.
  public mutating func addToken(_ text: String) -> Bool {
    let tokens = text.split(separator: "=", omittingEmptySubsequences: false).map { Hex.decode($0) }
    guard tokens.count == 2, let old = tokens[0], let new = tokens[1], !old.isEmpty else { return false }
    self.tokens[old] = new
    return true
  }

  /// Adds what a file says: `{"topics": {"old": "new"}, "tokens": {"old": "new"}}`; a sentence if it says something else.
  public mutating func add(file: [UInt8]) -> String? {
    guard let document = JSONReader.read(file), case .object(let members) = document else {
      return "expected an object with \"topics\" and \"tokens\""
    }
    for (name, value) in members {
      guard name == "topics" || name == "tokens", case .object(let pairs) = value else {
        return "expected \"topics\" and \"tokens\", each an object of old and new names, got \"\(name)\""
      }
      for (old, new) in pairs {
        guard case .string(let new) = new,
          name == "topics" ? addTopic("\(old)=\(new)") : addToken("\(old)=\(new)")
        else {
          return
            "\(name): expected a \(name.dropLast()) as the new name of a \(name.dropLast()), got something else for \"\(old)\""
        }
      }
    }
    return nil
  }
}
