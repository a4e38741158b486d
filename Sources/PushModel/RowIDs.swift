import Basics

/// A device that has been seen.
public struct DeviceID: RowID {
  public let number: Int32
  @inlinable public init(number: Int32) { self.number = number }
}

/// A topic that somebody has mentioned: a place in the table of topics, and which of the topics that have had it.
public struct TopicID: RowID {
  /// Bits of the place. Above them is the round, in which the bit of the sign stays free.
  public static let placeBits: Int32 = 20
  public static let roundMask: Int32 = .max >> placeBits
  /// Most places, as a count.
  public static let placeLimit = 1 << Int(placeBits)

  public let number: Int32
  @inlinable public init(number: Int32) { self.number = number }

  @inlinable
  public init(place: Int, round: Int32) {
    number = round << Self.placeBits | Int32(truncatingIfNeeded: place) & (1 << Self.placeBits - 1)
  }

  /// Where the topic is in the table.
  @inlinable @inline(__always)
  public var place: Int { Int(number & (1 << Self.placeBits - 1)) }

  /// How often the place was given to another topic; begins again with 0.
  @inlinable
  public var round: Int32 { number >> Self.placeBits }

  /// The round behind this one.
  @inlinable
  public var nextRound: Int32 { (round + 1) & Self.roundMask }
}

/// A row of the token map: a token, and the message that is kept for it.
public struct RegistrationID: RowID {
  public let number: Int32
  @inlinable public init(number: Int32) { self.number = number }
}

/// A context that some token was made for.
public struct TokenContextID: RowID {
  public let number: Int32
  @inlinable public init(number: Int32) { self.number = number }
}
