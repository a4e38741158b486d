import Testing

/// Reads the Prometheus text format, version 0.0.4, strictly: what is not a comment or a sample is an error, and a sample
/// belongs to the family above it.
struct PrometheusText {
  struct Sample {
    var name: String
    var labels: [String: String]
    var value: Double
  }

  private(set) var types: [String: String] = [:]
  private(set) var samples: [Sample] = []

  init(_ text: String) throws {
    try #require(text.hasSuffix("\n"))
    var family = ""
    for line in text.split(separator: "\n") {
      let words = line.split(separator: " ", maxSplits: 3).map(String.init)
      if line.hasPrefix("# HELP ") {
        try #require(words.count == 4, "\(line)")
        family = words[2]
      } else if line.hasPrefix("# TYPE ") {
        try #require(words[2] == family && types[family] == nil, "\(line)")
        types[family] = words[3]
      } else {
        let sample = try Self.sample(line)
        let suffixes = types[family] == "histogram" ? ["_bucket", "_sum", "_count"] : [""]
        #expect(suffixes.contains { family + $0 == sample.name }, "\(line)")
        let isKnown = samples.contains { $0.name == sample.name && $0.labels == sample.labels }
        #expect(!isKnown, "twice: \(line)")
        samples.append(sample)
      }
    }
  }

  private static func sample(_ line: Substring) throws -> Sample {
    let space = try #require(line.lastIndex(of: " "))
    let (series, number) = (line[..<space], line[line.index(after: space)...])
    let value = try #require(number == "+Inf" ? .infinity : Double(number), "\(line)")
    guard let brace = series.firstIndex(of: "{") else {
      return Sample(name: String(series), labels: [:], value: value)
    }
    try #require(series.last == "}")
    var labels: [String: String] = [:]
    for pair in series[series.index(after: brace)...].dropLast().split(separator: ",") {
      let parts = pair.split(separator: "=", maxSplits: 1)
      try #require(parts.count == 2 && parts[1].first == "\"" && parts[1].last == "\"", "\(line)")
      labels[String(parts[0])] = String(parts[1].dropFirst().dropLast())
    }
    return Sample(name: String(series[..<brace]), labels: labels, value: value)
  }

  func value(_ name: String, _ labels: [String: String] = [:]) -> Double? {
    samples.first { $0.name == name && $0.labels == labels }?.value
  }

  /// Checks what every histogram must be: bounds and counts that rise, and an end that is the count.
  func checkHistogram(_ family: String, _ labels: [String: String]) throws {
    #expect(types[family] == "histogram")
    let buckets = samples.filter { sample in
      sample.name == family + "_bucket" && labels.allSatisfy { sample.labels[$0.key] == $0.value }
    }
    let bounds = try buckets.map { sample in
      let text = try #require(sample.labels["le"])
      return text == "+Inf" ? .infinity : try #require(Double(text))
    }
    #expect(bounds == bounds.sorted() && bounds.last == .infinity && bounds.count > 10)
    #expect(buckets.map(\.value) == buckets.map(\.value).sorted())
    #expect(buckets.last?.value == value(family + "_count", labels))
    #expect(value(family + "_sum", labels) != nil)
  }
}
