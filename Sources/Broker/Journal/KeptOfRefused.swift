import PushModel

/// Most that the history keeps of a notification that was refused, in bytes: what a good one may have at most. What comes may be
/// much larger, and whoever sends it may send it for ever.
public struct KeptOfRefused: Sendable {
  /// Of the payload of a frame, in bytes.
  public var legacyPayload = Limits.legacyPayload
  /// Of the body of a request, in bytes.
  public var body = max(Limits.voipPayload, Limits.broadcastPayload)
  /// What a frame has beside its payload, in bytes: the token, and 61 for the heads of frame and items, identifier, expiration and
  /// priority.
  private static let besidePayload = Limits.longestToken + 64

  public init() {}

  /// Of a whole frame, in bytes.
  var frame: Int { legacyPayload + Self.besidePayload }
}

/// How much there was of a notification of which the history has only a part, in bytes.
public struct FullSize: Equatable, Sendable {
  /// Of the frame on the binary protocol, of the body elsewhere.
  public var raw: Int
  public var payload: Int
}

/// The full sizes of notifications that were cut, by their ids. There are as many as the history has of them at most.
struct FullSizes {
  private var sizes: [(id: UInt64, size: FullSize)] = []
  /// Those before it are of notifications that were forgotten.
  private var first = 0

  /// In order of ids; a second time for the newest is a correction.
  mutating func set(_ size: FullSize, of id: UInt64, firstId: UInt64) {
    if sizes.last?.id == id { sizes.removeLast() }
    sizes.append((id, size))
    forget(before: firstId)
  }

  subscript(id: UInt64) -> FullSize? {
    var (low, high) = (first, sizes.count)
    while low < high {
      let middle = (low + high) / 2
      if sizes[middle].id < id { low = middle + 1 } else { high = middle }
    }
    return low < sizes.count && sizes[low].id == id ? sizes[low].size : nil
  }

  private mutating func forget(before id: UInt64) {
    while first < sizes.count, sizes[first].id < id { first += 1 }
    guard first > 64, first > sizes.count / 2 else { return }
    sizes.removeFirst(first)
    first = 0
  }
}
