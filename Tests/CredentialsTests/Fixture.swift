import Basics
import PushModel
import TestSupport
import Testing

import Credentials

/// Key material made once for the whole run, because RSA keys are slow to make.
enum Fixture {
  /// The moment at which everything is issued.
  static let now = Timestamp(seconds: 1_700_000_000)
  static let topic = "com.example.app"

  private static let shared = Result { try RunFolder.make(now: now) }
  /// Only for copies: nothing is ever issued in it.
  private static let untouched = Result { try RunFolder.make(now: now) }

  /// The shared folder, freshly loaded.
  static func folder() throws -> CertsFolder {
    let folder = CertsFolder(path: try shared.get())
    try folder.prepare(now: now)
    return folder
  }

  /// A folder for one test alone, in `home`: with the keys of all such folders, and nothing issued yet.
  static func folder(in home: ScratchFolder) throws -> CertsFolder {
    try home.copy(from: untouched.get())
    let folder = CertsFolder(path: home.path)
    try folder.prepare(now: now)
    return folder
  }

  static func root() throws -> KeyPair { try folder().loadedRoot(now: now) }
}

extension Timestamp {
  func adding(seconds: Int64) -> Timestamp { adding(nanoseconds: seconds * 1_000_000_000) }
}

func topic(_ name: String) throws -> Topic { try #require(Topic(name)) }
func udid(_ text: String) throws -> UDID { try #require(UDID(text)) }

/// The bytes that hexadecimal text spells; blanks and line ends are for the eye.
func bytes(_ hex: String) throws -> [UInt8] { try #require(Hex.decode(hex.filter { !$0.isWhitespace })) }

extension CertsFolder {
  /// Push certificates that were issued.
  func pushCertificates() -> [ListedPushCertificate] {
    pushCertificateNames().compactMap { pushCertificate(inFile: $0) }
  }
}
