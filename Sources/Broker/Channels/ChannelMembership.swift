import PushModel

/// How far a device that is connected got in a channel.
struct ChannelMembership {
  /// The newest broadcast that it has, as it said itself, or as remembered from its last connection.
  var seenUntil: Timestamp
  /// The newest broadcast that was sent on this connection.
  var sentUntil = Timestamp(nanoseconds: .min)

  /// What is remembered when the connection ends.
  var reached: Timestamp { max(seenUntil, sentUntil) }
}
