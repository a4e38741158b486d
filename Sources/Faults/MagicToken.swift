import Basics
import PushModel

/// Device tokens that make something go wrong without any set-up: the token is the ASCII text of a magic word, filled up with
/// zeros to 32 bytes.
///
///     !BadDeviceToken      rejected with this reason: any word of the table
///     !legacy=7            an error packet with this status (on HTTP/2: the reason for it)
///     !delay=500           accepted after so many milliseconds
///     !goaway=Shutdown     a GOAWAY with this reason, or none; on the gateway status 10
///     !reset  !close  !stall  !garbage=100  !rst=7  the connection or stream goes wrong
///
/// Channels have names of their own: there the magic word with its mark stands for the channel id or the bundle id.
///
/// `printf '!BadDeviceToken' | xxd -p` and zeros behind it make the digits. Issued tokens are HMACs, which don't end in
/// zeros by chance.
public enum MagicToken {
  /// What such a token begins with.
  public static let mark = UInt8(ascii: "!")

  /// What a token asks for; nil for an ordinary one.
  public static func read(_ token: [UInt8]) -> (word: String, effects: FaultEffects)? {
    guard token.count == DeviceToken.byteCount, let word = word(in: token) else { return nil }
    return effects(word).map { ("!" + word, $0) }
  }

  /// What stands behind the mark in visible ASCII, with nothing but zeros behind it; nil for an ordinary token.
  private static func word(in token: [UInt8]) -> String? {
    guard token.first == mark else { return nil }
    let text = token.prefix { $0 != 0 }
    guard text.allSatisfy({ $0 > 0x20 && $0 < 0x7f }), token[text.endIndex...].allSatisfy({ $0 == 0 }) else {
      return nil
    }
    return String(decoding: text.dropFirst(), as: UTF8.self)
  }

  /// Of a token that nobody was given: that this is so, and where it looks like a magic word that nobody knows, which was perhaps
  /// meant.
  public static func neverIssued(_ token: [UInt8]) -> Phrase {
    let plain: Phrase = "one that was never issued"
    guard let word = word(in: token), !word.isEmpty else { return plain }
    let question = Suggestion.question(String(word.prefix { $0 != "=" }), among: words, prefix: "!")
    return "one that was never issued: it reads \"!\(word)\", which names no fault\(question)"
  }

  /// What a magic word may begin with.
  private static let words = JSONValue.reasons + FaultEffects.all.compactMap(\.magicWord)

  /// What a name asks for that stands where no token does: the magic word behind the mark, and nothing else.
  public static func read(word: String?) -> (word: String, effects: FaultEffects)? {
    guard let word, word.utf8.first == mark else { return nil }
    return effects(String(word.dropFirst())).map { (word, $0) }
  }

  /// The token that asks for `word`; nil if nobody knows the word, or it is too long.
  public static func make(_ word: String) -> DeviceToken? {
    let text = [mark] + Array(word.utf8)
    guard text.count <= DeviceToken.byteCount, effects(word) != nil else { return nil }
    return DeviceToken(bytes: text + [UInt8](repeating: 0, count: DeviceToken.byteCount - text.count))
  }

  private static func effects(_ word: String) -> FaultEffects? {
    var effects = FaultEffects()
    if let rejection = Rejection(reason: word) {
      effects.reason = rejection
      return effects
    }
    let sides = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    FaultEffects.all.first { $0.magicWord == sides[0] }?.grant(&effects, sides.count > 1 ? sides[1] : nil)
    return effects.stage == nil ? nil : effects
  }
}
