/// Who is connected and listens to a channel. Coming and leaving cost the same however many there are: who leaves makes a
/// gap, which the next to come fills.
struct ListenerList {
  private var places: [DeviceSession?] = []
  private var gaps: [Int] = []

  var count: Int { places.count - gaps.count }
  /// Behind the last place.
  var end: Int { places.count }

  /// nil for a gap, and beyond the end.
  subscript(place: Int) -> DeviceSession? { places.indices.contains(place) ? places[place] : nil }

  /// Answers the place that it has until it leaves.
  mutating func add(_ session: DeviceSession) -> Int {
    guard let gap = gaps.popLast() else {
      places.append(session)
      return places.count - 1
    }
    places[gap] = session
    return gap
  }

  mutating func remove(at place: Int) {
    guard self[place] != nil else { return }
    places[place] = nil
    gaps.append(place)
    if count == 0 { self = ListenerList() }
  }
}
