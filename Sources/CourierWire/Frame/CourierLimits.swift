/// Limits of one device connection, each with its unit and reason.
public enum CourierLimits {
  /// Command byte and length in front of every frame, in bytes (`spec/device-courier.md` 2).
  public static let headerByteCount = 5
  /// Id and length in front of every item, in bytes (2).
  public static let itemHeaderByteCount = 3
  /// Largest value of one item, in bytes: its length has two bytes (2).
  public static let itemByteCount = 65535
  /// Largest frame body from a peer that has not connected yet, in bytes. A certificate with a signature takes
  /// less than 4 KiB; a stranger shall not make us keep much more.
  public static let frameBeforeConnect = 16 * 1024
  /// Largest frame body once connected, in bytes: one item of full size and 1 KiB for the others.
  public static let frameAfterConnect = 64 * 1024 + 1024
}
