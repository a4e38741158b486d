import Basics
import PropertyList
import PushModel

/// A device asks for its certificate (`Documentation/device-protocol.md#activation`): a form with one field that holds
/// a property list, which holds another one with the certificate request in it.
public struct ActivationRequest: Equatable, Sendable {
  public let udid: UDID
  /// The certificate request, PEM.
  public let csrPEM: String

  /// Largest form taken, in bytes. The ones of real clients have about 20 KiB, most of it FairPlay certificates.
  public static let maximumByteCount = 128 * 1024

  static let formField = "activation-info"

  /// The form that a simulated iPhone posts. The FairPlay fields prove to Apple that it was made by an Apple device; here they
  /// only have to be there.
  public static func formBody(udid: UDID, csrPEM: String) -> [UInt8] {
    let outer = PropertyList.dictionary([
      "ActivationInfoComplete": .boolean(true),
      "ActivationInfoXML": .data(Array(information(udid, csrPEM).document.utf8)),
      "FairPlayCertChain": .data([0]),
      "FairPlaySignature": .data([0]),
    ])
    return FormBody.encode(formField, outer.document)
  }

  private static func information(_ udid: UDID, _ csrPEM: String) -> PropertyList {
    .dictionary([
      "ActivationRandomness": .string(udid.text),
      "ActivationState": .string("Unactivated"),
      "BuildVersion": .string("22A3354"),
      "DeviceCertRequest": .data(Array(csrPEM.utf8)),
      "DeviceClass": .string("iPhone"),
      "ProductType": .string("iPhone17,1"),
      "ProductVersion": .string("18.0"),
      "SerialNumber": .string("SIMULATED"),
      "UniqueDeviceID": .string(udid.text),
    ])
  }

  /// Reads a form of any client. Nothing in it has been verified.
  public static func parse(formBody: Span<UInt8>) throws(ActivationError) -> ActivationRequest {
    guard formBody.count <= maximumByteCount else {
      throw ActivationError(.unreadableRequest, "the form of \(formBody.count) bytes is too long")
    }
    guard let field = FormBody.value(of: formField, in: formBody) else {
      throw ActivationError(.unreadableRequest, "the form has no field \(formField)")
    }
    guard let inner = PropertyList(document: field)?["ActivationInfoXML"]?.bytes,
      let information = PropertyList(document: inner)
    else { throw ActivationError(.unreadableRequest, "the activation information cannot be read") }
    return try ActivationRequest(information)
  }

  private init(_ information: PropertyList) throws(ActivationError) {
    guard let name = information["UniqueDeviceID"]?.text, let udid = UDID(name) else {
      throw ActivationError(.incompleteRequest, "UniqueDeviceID is missing or not a name")
    }
    guard let csr = information["DeviceCertRequest"]?.text, !csr.isEmpty else {
      throw ActivationError(.incompleteRequest, "DeviceCertRequest is missing")
    }
    (self.udid, csrPEM) = (udid, csr)
  }
}

/// Why a device could not be activated. The sentence goes to the device, between `<b>` and `</b>`.
public struct ActivationError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The side that has to change something; errors are equal when their codes are.
  public enum Code: Sendable, Hashable {
    /// The form has no activation information, or it cannot be read.
    case unreadableRequest
    /// The request lacks something, or it is of no use.
    case incompleteRequest
    /// The server said no.
    case refused
    /// The answer holds neither a certificate nor a reason.
    case unreadableAnswer
  }

  public let code: Code
  /// A lower-case sentence.
  public let description: String

  public init(_ code: Code, _ description: String) {
    self.code = code
    self.description = description
  }

  public static func == (left: ActivationError, right: ActivationError) -> Bool { left.code == right.code }
}

/// A form as browsers post it, `application/x-www-form-urlencoded`.
private enum FormBody {
  /// A form with one field.
  static func encode(_ name: String, _ value: String) -> [UInt8] {
    Array(name.utf8) + [UInt8(ascii: "=")] + value.utf8.flatMap(encoded)
  }

  private static func encoded(_ byte: UInt8) -> [UInt8] {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
      [byte]
    default: [UInt8(ascii: "%")] + Hex.encode([byte]).uppercased().utf8
    }
  }

  /// The value of the first field of that name; nil if there is none or it is not well formed.
  static func value(of name: String, in form: Span<UInt8>) -> [UInt8]? {
    let name = Array(name.utf8)
    var rest = form
    while !rest.isEmpty {
      let field = rest.prefix(rest.place(of: UInt8(ascii: "&")))
      rest = rest.dropping(min(field.count + 1, rest.count))
      let equals = field.place(of: UInt8(ascii: "="))
      guard equals < field.count, field.prefix(equals).hasSameBytes(as: name.span) else {
        continue
      }
      let value = Array(field.dropping(equals + 1))
      return PercentEncoding.decode(value.map { $0 == UInt8(ascii: "+") ? 0x20 : $0 })
    }
    return nil
  }
}
