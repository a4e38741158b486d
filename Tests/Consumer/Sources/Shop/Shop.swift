import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// A shop that tells people when their order has shipped.
public struct Shop: Sendable {
  /// What the push service said to a notification.
  public struct Refusal: Error, Equatable {
    public var status: Int
    public var reason: String

    public init(status: Int, reason: String) { (self.status, self.reason) = (status, reason) }
  }

  private struct Answer: Decodable {
    var reason: String
  }

  /// Where to push to: Apple, or an emulator.
  let service: URL
  let topic: String
  /// Makes a provider token.
  let authorization: @Sendable () throws -> String

  public init(service: URL, topic: String, authorization: @escaping @Sendable () throws -> String) {
    (self.service, self.topic, self.authorization) = (service, topic, authorization)
  }

  /// Tells the phone with this token; tries three times while the service is busy.
  public func ship(order: Int, to token: String) async throws {
    for attempt in 1...3 {
      do {
        return try await push(#"{"aps":{"alert":"Order \#(order) has shipped"}}"#, to: token)
      } catch let refusal as Refusal where refusal.status == 503 && attempt < 3 {
        continue
      }
    }
  }

  private func push(_ payload: String, to token: String) async throws {
    var request = URLRequest(url: service.appending(path: "3/device/\(token)"))
    (request.httpMethod, request.httpBody) = ("POST", Data(payload.utf8))
    request.setValue("bearer \(try authorization())", forHTTPHeaderField: "authorization")
    request.setValue(topic, forHTTPHeaderField: "apns-topic")
    request.setValue("alert", forHTTPHeaderField: "apns-push-type")
    let (body, response) = try await URLSession.shared.data(for: request)
    guard let status = (response as? HTTPURLResponse)?.statusCode, status != 200 else { return }
    let answer = try JSONDecoder().decode(Answer.self, from: body)
    throw Refusal(status: status, reason: answer.reason)
  }
}
