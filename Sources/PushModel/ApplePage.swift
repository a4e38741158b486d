/// Pages of Apple's documentation, by their titles, for people who want to read on.
public enum ApplePage: String, CaseIterable, Sendable {
  case sendingRequests = "Sending notification requests to APNs"
  case handlingResponses = "Handling notification responses from APNs"
  case tokenConnection = "Establishing a token-based connection to APNs"
  case certificateConnection = "Establishing a certificate-based connection to APNs"
  case managingChannels = "Sending channel management requests to APNs"
  case broadcasting = "Sending broadcast push notification requests to APNs"
  case handlingErrors = "Handling error responses from APNs"
  /// Of the archived Local and Remote Notification Programming Guide.
  case binaryInterface = "Binary Provider API"
}

extension Phrase {
  /// A rule in words, with the page that states it.
  public init(rule words: String, _ page: ApplePage) { self.init("\(words) (Apple: \(page.rawValue))") }
}
