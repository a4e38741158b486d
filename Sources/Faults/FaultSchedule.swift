import Basics

/// Which of the moments that a rule is about it is injected at.
public enum FaultSchedule: Equatable, Sendable {
  case always
  /// The next so many, then never again.
  case next(Int)
  /// Each so-manieth.
  case every(Int)
  /// The so-manieth, from 1, once.
  case nth(Int)
  /// With this probability, from 0 to 1, drawn from the seed.
  case probability(Double)
  /// From one time on, until before another; nil for no bound.
  case window(from: Timestamp?, to: Timestamp?)
}

extension FaultSchedule {
  private static let counts = JSONKind<Int>.whole(1...1_000_000_000)

  /// One form for each way to say when.
  private static let forms: [JSONForm<FaultSchedule>] = [
    form("next", counts, FaultSchedule.next) { if case .next(let count) = $0 { count } else { nil } },
    form("every", counts, FaultSchedule.every) { if case .every(let count) = $0 { count } else { nil } },
    form("nth", counts, FaultSchedule.nth) { if case .nth(let count) = $0 { count } else { nil } },
    form("probability", .number(0...1), FaultSchedule.probability) {
      if case .probability(let value) = $0 { value } else { nil }
    },
    JSONForm(
      [
        JSONField("from", .time, get: { $0.bounds.from }, set: { $0 = .window(from: $1, to: nil) }),
        JSONField("to", .time, get: { $0.bounds.to }, set: { $0 = .window(from: $0.bounds.from, to: $1) }),
      ], rules: [("minProperties", 1)]),
  ]

  /// Of one member, which must be there.
  private static func form<Value>(
    _ name: String, _ kind: JSONKind<Value>, _ make: @escaping @Sendable (Value) -> FaultSchedule,
    get: @escaping @Sendable (FaultSchedule) -> Value?
  ) -> JSONForm<FaultSchedule> {
    JSONForm([JSONField(name, kind, get: get, set: { $0 = make($1) }).needed])
  }

  private var bounds: (from: Timestamp?, to: Timestamp?) {
    if case .window(let from, let to) = self { (from, to) } else { (nil, nil) }
  }

  public static let kind = JSONKind<FaultSchedule>(
    "an object", ["oneOf": .array([["type": "null"]] + forms.map(\.schema))]
  ) { value, place in
    try read(JSONObject(value, place: place))
  } write: { schedule in
    schedule == .always ? .null : .object(forms.flatMap { $0.members(schedule) })
  }

  private static func read(_ object: JSONObject) throws -> FaultSchedule {
    try object.check(allowing: forms.flatMap(\.names))
    let meant = forms.filter { $0.names.contains { object[$0] != nil } }
    guard meant.count == 1, let form = meant.first else {
      let names = forms.flatMap(\.names).filter { object[$0] != nil }
      throw DocumentError(
        "\(object.place): expected one of next, every, nth, probability, or from and to, "
          + "got \(names.isEmpty ? "none" : names.joined(separator: ", "))")
    }
    var schedule = FaultSchedule.always
    try form.read(object, into: &schedule)
    if case .window(let from?, let to?) = schedule, to <= from {
      throw DocumentError(
        object.path("to"), expected: "a time after \(from.rfc3339)", got: .string(to.rfc3339))
    }
    return schedule
  }
}
