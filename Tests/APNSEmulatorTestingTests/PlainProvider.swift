import APNSEmulatorTesting
import Foundation
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Code under test: a provider that has a token key and speaks plain HTTP.
struct PlainProvider {
  let emulator: APNSEmulator
  let key: TokenKey

  init(_ emulator: APNSEmulator) throws { (self.emulator, key) = (emulator, try emulator.issueTokenKey()) }

  /// Answers the status and the reason, which is empty for success.
  func push(
    _ payload: String, to token: String, topic: String = "com.example.app", authorization: String? = nil
  ) async throws -> (status: Int, reason: String) {
    var request = URLRequest(url: try #require(URL(string: "http://\(emulator.console)/3/device/\(token)")))
    (request.httpMethod, request.httpBody) = ("POST", Data(payload.utf8))
    request.setValue(topic, forHTTPHeaderField: "apns-topic")
    request.setValue("alert", forHTTPHeaderField: "apns-push-type")
    request.setValue(try "bearer \(authorization ?? key.token())", forHTTPHeaderField: "authorization")
    let (body, response) = try await URLSession.shared.data(for: request)
    let reason = (try? JSONDecoder().decode([String: String].self, from: body))?["reason"]
    return ((response as? HTTPURLResponse)?.statusCode ?? 0, reason ?? "")
  }
}

let app = "com.example.app"

/// A payload that is found again.
func alert(_ text: String) -> String { #"{"aps":{"alert":"\#(text)"}}"# }
