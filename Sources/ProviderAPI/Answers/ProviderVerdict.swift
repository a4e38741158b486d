/// The outcome of a request; there is always exactly one.
public enum ProviderVerdict {
  case accepted(AcceptedNotification)
  case rejected(RejectedRequest)
}
