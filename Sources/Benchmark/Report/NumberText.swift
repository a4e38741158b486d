/// Numbers as the tables show them.
enum NumberText {
  /// With thousands separated: `4,812,345`.
  static func grouped(_ value: Int) -> String {
    var digits = Array(String(value.magnitude))
    var position = digits.count - 3
    while position > 0 {
      digits.insert(",", at: position)
      position -= 3
    }
    return (value < 0 ? "-" : "") + String(digits)
  }

  /// With so many places behind the point; a stroke for what is no number, or none that fits.
  static func fixed(_ value: Double, _ places: Int) -> String {
    let scale = (0..<places).reduce(1) { result, _ in result * 10 }
    guard let scaled = Int(exactly: (value * Double(scale)).rounded()) else { return "–" }
    let whole = (scaled < 0 ? "-" : "") + "\(abs(scaled) / scale)"
    let fraction = String(abs(scaled) % scale)
    return places == 0
      ? whole : "\(whole)." + String(repeating: "0", count: places - fraction.count) + fraction
  }
}
