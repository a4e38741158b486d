/// One metric with its samples, for the Prometheus text format.
package struct MetricFamily: Sendable {
  package enum Kind: String, Sendable { case counter, gauge, histogram }

  /// One value, told apart from others by its labels.
  package struct Sample: Sendable {
    package var labels: [(name: String, value: String)]
    package var value: Double
    /// Behind the family's name: a histogram has several series.
    package var suffix: String

    package init(_ value: Double, _ labels: [(name: String, value: String)] = [], suffix: String = "") {
      (self.value, self.labels, self.suffix) = (value, labels, suffix)
    }
  }

  package var name: String
  package var help: String
  package var kind: Kind
  package var samples: [Sample]

  package init(_ name: String, _ kind: Kind, _ help: String, _ samples: [Sample]) {
    (self.name, self.kind, self.help, self.samples) = (name, kind, help, samples)
  }

  /// A metric without labels.
  package init(_ name: String, _ kind: Kind, _ help: String, value: some BinaryInteger) {
    self.init(name, kind, help, [Sample(Double(value))])
  }

  /// The lines of the text format, version 0.0.4.
  package var text: String {
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
  package static func number(_ value: Double) -> String {
    if let whole = Int64(exactly: value) { return String(whole) }
    return value.isNaN ? "NaN" : value.isInfinite ? (value < 0 ? "-Inf" : "+Inf") : "\(value)"
  }
}
