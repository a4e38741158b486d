import Credentials
import PushModel

/// `certs convert`: what every tutorial on push certificates does with openssl, in either direction.
enum ConvertCommand {
  static let arguments = [
    Argument(ValueKind<String>.file, "certificate and key as .p12 or .pem, or a certificate as .pem or .cer")
  ]
  private static let key = Flag(
    "key", .file, "the key, where it is in a file of its own (.key, .pem or .p12)")
  private static let out = Flag(
    "out", .file, "what to write: NAME.pem (certificate and key), NAME.p12, or NAME.key (the key alone)"
  ).required
  private static let password = Flag("password", .text("PASSWORD"), "of what is read")
  private static let outPassword = Flag(
    "out-password", .text("PASSWORD"), "of the .p12 that is written (else it is empty)")
  static let flags: [any FlagDescription] = [out, key, password, outPassword]

  static func run(_ settings: Settings) throws -> ExitStatus {
    guard let file = settings.arguments.first, let target = settings[out] else { return .usage }
    guard let form = Form(target) else {
      throw UsageError(
        "--out expects a name that ends in .pem, .p12 or .key, got \"\(target)\"", command: "certs convert")
    }
    let identity = try PushIdentity(file: file, key: settings[key], password: settings[password] ?? "")
    try PushIdentity.write(bytes(of: identity, form, settings[outPassword] ?? ""), to: target)
    try Output.line(target)
    for line in OpenSSLWords.lines(file: file, key: settings[key], out: target) {
      Output.complain("the same with openssl: \(line)")
    }
    return .success
  }

  private static func bytes(of identity: PushIdentity, _ form: Form, _ password: String) throws -> [UInt8] {
    switch form {
    case .pem: try identity.certificatePEM() + identity.keyPEM()
    case .p12: try identity.pkcs12(password: password)
    case .key: try identity.keyPEM()
    }
  }

  /// What is written, by its name.
  fileprivate enum Form: String {
    case pem, p12, key

    init?(_ file: String) {
      let ending = file.split(separator: ".", omittingEmptySubsequences: false).last?.lowercased() ?? ""
      self.init(rawValue: ending == "pfx" ? "p12" : ending)
    }
  }
}

/// The commands that people find in tutorials for the same. Passwords are asked for, not shown. Pure.
package enum OpenSSLWords {
  package static func lines(file: String, key: String?, out: String) -> [String] {
    let (source, target) = (ConvertCommand.Form(file), ConvertCommand.Form(out))
    guard source != .p12 else {
      return ["openssl pkcs12 -in \(file)\(target == .key ? " -nocerts" : "") -nodes -out \(out)"]
        .filter { _ in target != .p12 }
    }
    let isDER = source == nil
    let certificate = isDER ? "\(file.prefix { $0 != "." }).pem" : file
    let first = isDER ? ["openssl x509 -inform der -in \(file) -out \(certificate)"] : []
    switch target {
    case .p12:
      let inkey = key.map { " -inkey \($0)" } ?? ""
      return first + ["openssl pkcs12 -export -in \(certificate)\(inkey) -out \(out)"]
    case .key: return ["openssl pkey -in \(key ?? file) -out \(out)"]
    case .pem: return first + ["cat \(certificate)\(key.map { " \($0)" } ?? "") > \(out)"]
    case nil: return []
    }
  }
}
