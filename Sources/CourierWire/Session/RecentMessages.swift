/// The last message ids of a connection.
struct RecentMessages {
  private var ids: Set<UInt32> = []
  private var ring: [UInt32] = []
  private var oldest = 0

  /// Remembers `id`; false if it is remembered already. Forgets the oldest when there are too many.
  mutating func insert(_ id: UInt32) -> Bool {
    guard ids.insert(id).inserted else { return false }
    if ring.count < CourierLimits.rememberedMessages {
      ring.append(id)
    } else {
      ids.remove(ring[oldest])
      ring[oldest] = id
      oldest = (oldest + 1) % ring.count
    }
    return true
  }
}
