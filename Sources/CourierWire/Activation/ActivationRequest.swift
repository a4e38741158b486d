import Basics
import PushModel

/// A device asks for its certificate (`Documentation/device-protocol.md#activation`): a form with one field that holds
/// a property list, which holds another one with the certificate request in it.
public struct ActivationRequest: Equatable, Sendable {
  public var udid: UDID
  /// The certificate request, PEM.
  public var csrPEM: String
  public var deviceClass: String
  public var productType: String
  public var productVersion: String
  public var buildVersion: String
  public var serialNumber: String

  /// Largest form taken, in bytes. The ones of real clients have about 20 KiB, most of it FairPlay certificates.
  public static let maximumByteCount = 128 * 1024

  static let formField = "activation-info"

  /// The request of a simulated iPhone.
  public init(udid: UDID, csrPEM: String) {
    (self.udid, self.csrPEM) = (udid, csrPEM)
    (deviceClass, productType) = ("iPhone", "iPhone17,1")
    (productVersion, buildVersion) = ("18.0", "22A3354")
    serialNumber = "SIMULATED"
  }

  /// The form that a device posts.
  public static func formBody(udid: UDID, csrPEM: String) -> [UInt8] {
    ActivationRequest(udid: udid, csrPEM: csrPEM).formBody
  }

  /// The form of this request. The FairPlay fields prove to Apple that it was made by an Apple device; here they
  /// only have to be there.
  public var formBody: [UInt8] {
    let outer = PropertyList.dictionary([
      "ActivationInfoComplete": .boolean(true),
      "ActivationInfoXML": .data(Array(information.document.utf8)),
      "FairPlayCertChain": .data([0]),
      "FairPlaySignature": .data([0]),
    ])
    return FormBody.encode(Self.formField, outer.document)
  }

  private var information: PropertyList {
    .dictionary([
      "ActivationRandomness": .string(udid.text),
      "ActivationState": .string("Unactivated"),
      "BuildVersion": .string(buildVersion),
      "DeviceCertRequest": .data(Array(csrPEM.utf8)),
      "DeviceClass": .string(deviceClass),
      "ProductType": .string(productType),
      "ProductVersion": .string(productVersion),
      "SerialNumber": .string(serialNumber),
      "UniqueDeviceID": .string(udid.text),
    ])
  }

  /// Reads a form of any client. Nothing in it has been verified.
  public static func parse(formBody: UnsafeRawBufferPointer) throws(ActivationError) -> ActivationRequest {
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
    self.init(udid: udid, csrPEM: csr)
    deviceClass = information["DeviceClass"]?.text ?? ""
    productType = information["ProductType"]?.text ?? ""
    productVersion = information["ProductVersion"]?.text ?? ""
    buildVersion = information["BuildVersion"]?.text ?? ""
    serialNumber = information["SerialNumber"]?.text ?? ""
  }
}

/// Why a device could not be activated. The sentence goes to the device, between `<b>` and `</b>`.
public struct ActivationError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The side that has to change something; errors are equal when their codes are.
  @frozen public enum Code: Sendable, Hashable {
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
  static func value(of name: String, in form: UnsafeRawBufferPointer) -> [UInt8]? {
    for field in form.split(separator: UInt8(ascii: "&")) {
      guard let equals = field.firstIndex(of: UInt8(ascii: "=")),
        field[..<equals].elementsEqual(name.utf8)
      else { continue }
      return PercentEncoding.decode(field[(equals + 1)...].map { $0 == UInt8(ascii: "+") ? 0x20 : $0 })
    }
    return nil
  }
}
