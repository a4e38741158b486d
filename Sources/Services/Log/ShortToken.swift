import Basics

/// How the log writes device tokens: enough to find one in the table, too little to push to it.
public enum ShortToken {
  /// Bytes that are shown, as a count.
  private static let shown = 8

  public static func text(_ token: Span<UInt8>) -> String {
    let text = Hex.encode(token.prefix(shown))
    return token.count > shown ? text + "…" : text
  }

  /// The same for whatever looks like one in a sentence: a run of more hexadecimal digits than are shown. Peers' values are
  /// quoted in explanations, which are not only for the log.
  public static func shortening(in sentence: String) -> String {
    var result: [UInt8] = []
    var run = 0
    var isShortened = false
    for byte in sentence.utf8 {
      run = Hex.value(byte) == nil ? 0 : run + 1
      if run <= 2 * shown {
        result.append(byte)
      } else if run == 2 * shown + 1 {
        result += "…".utf8
        isShortened = true
      }
    }
    return isShortened ? String(decoding: result, as: UTF8.self) : sentence
  }
}
