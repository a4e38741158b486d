import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Sends to all phones of somebody at once, and forgets those whose app is gone.
///
/// ```swift
/// let sender = AliasSender(service: apple, topic: "com.example.app") { try key.token() }
/// try await sender.add(token, to: "anna")
/// let reached = try await sender.send(#"{"aps":{"alert":"Hello"}}"#, to: "anna")
/// ```
public actor AliasSender {
  /// What the push service said to a notification that it did not take.
  public struct Refusal: Error, Equatable {
    public let status: Int
    public let reason: String

    public init(status: Int, reason: String) { (self.status, self.reason) = (status, reason) }
  }

  private struct Answer: Decodable {
    let reason: String
  }

  private let service: URL
  private let topic: String
  private let authorization: @Sendable () throws -> String
  private var book = AliasBook()

  /// - Parameter authorization: Makes a provider token.
  public init(service: URL, topic: String, authorization: @escaping @Sendable () throws -> String) {
    (self.service, self.topic, self.authorization) = (service, topic, authorization)
  }

  public func add(_ token: String, to alias: String) throws { try book.add(token, to: alias) }

  public func tokens(of alias: String) -> [String] { book.tokens(of: alias) }

  /// Answers how many phones the push was taken for.
  ///
  /// - Throws: `Refusal` for the first push that was refused for another reason than that its app is gone; all are tried.
  public func send(_ payload: String, to alias: String) async throws -> Int {
    let tokens = book.tokens(of: alias)
    let refusals = try await withThrowingTaskGroup(of: (String, Refusal?).self) { group in
      for token in tokens {
        group.addTask { (token, try await self.refusal(of: payload, to: token)) }
      }
      var refusals: [String: Refusal] = [:]
      for try await (token, refusal) in group { refusals[token] = refusal }
      return refusals
    }
    for (token, refusal) in refusals where refusal.status == 410 { book.remove(token) }
    if let other = refusals.values.first(where: { $0.status != 410 }) { throw other }
    return tokens.count - refusals.count
  }

  private nonisolated func refusal(of payload: String, to token: String) async throws -> Refusal? {
    var request = URLRequest(url: service.appending(path: "3/device/\(token)"))
    (request.httpMethod, request.httpBody) = ("POST", Data(payload.utf8))
    request.setValue("bearer \(try authorization())", forHTTPHeaderField: "authorization")
    request.setValue(topic, forHTTPHeaderField: "apns-topic")
    let (body, response) = try await URLSession.shared.data(for: request)
    guard let status = (response as? HTTPURLResponse)?.statusCode, status != 200 else { return nil }
    return Refusal(status: status, reason: try JSONDecoder().decode(Answer.self, from: body).reason)
  }
}
