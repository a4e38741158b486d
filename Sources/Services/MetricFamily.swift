/// One metric with its samples, for the Prometheus text format.
public struct MetricFamily: Sendable {
  public enum Kind: String, Sendable { case counter, gauge, histogram }

  /// One value, told apart from others by its labels.
  public struct Sample: Sendable {
    public var labels: [(name: String, value: String)]
    public var value: Double
    /// Behind the family's name: a histogram has several series.
    public var suffix: String

    public init(_ value: Double, _ labels: [(name: String, value: String)] = [], suffix: String = "") {
      (self.value, self.labels, self.suffix) = (value, labels, suffix)
    }
  }

  public var name: String
  public var help: String
  public var kind: Kind
  public var samples: [Sample]

  public init(_ name: String, _ kind: Kind, _ help: String, _ samples: [Sample]) {
    (self.name, self.kind, self.help, self.samples) = (name, kind, help, samples)
  }

  /// A metric without labels.
  public init(_ name: String, _ kind: Kind, _ help: String, value: some BinaryInteger) {
    self.init(name, kind, help, [Sample(Double(value))])
  }

  /// The lines of the text format, version 0.0.4.
  public var text: String {
    var text = "# HELP \(name) \(help)\n# TYPE \(name) \(kind.rawValue)\n"
    for sample in samples {
      let labels = sample.labels.map { "\($0.name)=\"\(Self.escaped($0.value))\"" }.joined(separator: ",")
      text += "\(name)\(sample.suffix)\(labels.isEmpty ? "" : "{\(labels)}") \(Self.number(sample.value))\n"
    }
    return text
  }

  private static func escaped(_ text: String) -> String {
    text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
  }

  /// A value as the format spells it.
  public static func number(_ value: Double) -> String {
    if let whole = Int64(exactly: value) { return String(whole) }
    return value.isNaN ? "NaN" : value.isInfinite ? (value < 0 ? "-Inf" : "+Inf") : "\(value)"
  }
}
