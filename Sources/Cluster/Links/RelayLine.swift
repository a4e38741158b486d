/// What waits of one zone, by number: said to one node, or held. Each step costs the same however many wait.
struct RelayLine {
  /// Where what is under way was said.
  private var peer = ""
  /// Said to that node and not answered, as a count; all of it by the same attempt.
  private var underWay = 0
  private var attempt: UInt32 = 0
  /// Held again after they were said. They came before all that were not.
  private var returned = RisingNumbers()
  /// Held since they came.
  private var fresh = RisingNumbers()

  var hasHeld: Bool { !returned.isEmpty || !fresh.isEmpty }
  var isEmpty: Bool { underWay == 0 && !hasHeld }

  /// The oldest that is held, if nothing is elsewhere.
  var first: UInt64? { underWay == 0 ? returned.first ?? fresh.first : nil }

  /// A new one, the highest number so far: whether it is to be said to the node, which is nil where nobody is known.
  mutating func admit(_ number: UInt64, to peer: String?, attempt: UInt32) -> Bool {
    // What is under way by an earlier attempt will be refused, and goes first then.
    guard let peer, !hasHeld, underWay == 0 || self.peer == peer && self.attempt == attempt else {
      fresh.insert(number)
      return false
    }
    (self.peer, self.attempt) = (peer, attempt)
    underWay += 1
    return true
  }

  /// All that is held is said to a node; answers it, oldest first. What is under way may be refused yet, and goes first then.
  mutating func release(to peer: String, attempt: UInt32) -> [UInt64] {
    guard underWay == 0 else { return [] }
    let numbers = returned.takeAll() + fresh.takeAll()
    guard !numbers.isEmpty else { return [] }
    (self.peer, self.attempt, underWay) = (peer, attempt, numbers.count)
    return numbers
  }

  /// One that was said is held again, in its order.
  mutating func putBack(_ number: UInt64) {
    underWay -= 1
    returned.insert(number)
  }

  /// One that is here goes.
  mutating func remove(_ number: UInt64, isHeld: Bool) {
    guard isHeld else { return underWay -= 1 }
    if let first = fresh.first, number >= first { fresh.remove(number) } else { returned.remove(number) }
  }
}

/// A set of numbers, lowest first. They come in their order, as a rule; whichever goes is only crossed out, and what is crossed out is
/// cleared when it is more than what is left. So each costs the same, however many there are.
struct RisingNumbers {
  /// Rising; those before `head` have gone.
  private var numbers: [UInt64] = []
  private var head = 0
  /// Crossed out: all lie behind `head`.
  private var gone: Set<UInt64> = []

  var isEmpty: Bool { head == numbers.count }
  var first: UInt64? { isEmpty ? nil : numbers[head] }
  private var count: Int { numbers.count - head - gone.count }

  /// Takes one that is not there.
  mutating func insert(_ number: UInt64) {
    guard let last = numbers.last, last > number else { return numbers.append(number) }
    // It may have been there before.
    if gone.remove(number) == nil { numbers.insert(number, at: place(of: number)) }
  }

  /// Takes out one that is there.
  mutating func remove(_ number: UInt64) {
    if number == first { head += 1 } else { gone.insert(number) }
    while let first, gone.remove(first) != nil { head += 1 }
    if head + gone.count > count { clear() }
  }

  mutating func takeAll() -> [UInt64] {
    clear()
    defer { self = RisingNumbers() }
    return numbers
  }

  private mutating func clear() {
    numbers = numbers[head...].filter { !gone.contains($0) }
    (head, gone) = (0, [])
  }

  /// The first place behind `head` whose number is higher.
  private func place(of number: UInt64) -> Int {
    var (low, high) = (head, numbers.count)
    while low < high {
      let middle = low + (high - low) / 2
      if numbers[middle] < number { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
