/// A listener, as rules name it.
public enum FaultPlace: String, Sendable, CaseIterable {
  case gateway, feedback, provider, console, courier
}
