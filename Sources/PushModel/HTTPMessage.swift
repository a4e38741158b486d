import Basics

/// Header fields and body of one HTTP message, whichever transport it came by, in one buffer that is used again for
/// the next message, unless somebody keeps a copy of the first. Names are stored in lower case.
public struct HTTPMessage {
  /// Most bytes of header fields kept, counted as HTTP/2 counts them: name, value and 32 a field. Apple announces
  /// this number (`Documentation/provider-api.md#connection`).
  public static let fieldListLimit = 8000
  /// What HTTP/2 adds to the length of each field when it counts a list, in bytes (RFC 9113 6.5.2).
  public static let fieldOverhead = 32
  /// Most bytes of a request's body kept: the largest payload (`Limits.voipPayload`) and enough more for whoever
  /// inspects one that is too large. What comes after is only counted.
  public static let requestBodyLimit = 5632
  /// A buffer that grew past this size is given back on reset, in bytes.
  static let keptCapacity = 4096
  static let firstCapacity = 1024

  /// Most bytes of body kept.
  private let bodyLimit: Int
  /// The fields as a `FieldBlock` would have them, but with the value of `authorization`; then the body.
  private var storage: [UInt8] = []
  /// Bytes held for fields and body.
  public var storageBytes: Int { storage.capacity }
  /// Length of the fields in `storage`.
  private var fieldsEnd = 0
  /// Where each known field's first occurrence begins, plus one; 0 for absent. The limit of the list fits 16 bits, and there are as
  /// many known fields as elements.
  private var known = SIMD16<UInt16>.zero

  /// Size of the header list so far, as HTTP/2 counts it.
  public private(set) var fieldListSize = 0
  /// Known fields that came more than once.
  public private(set) var repeated: ProviderFieldSet = []
  /// Whether a field beginning with `apns-` that the table does not know came more than once.
  public private(set) var repeatsUnknownAPNsField = false
  /// Length of the body in bytes, with what was not kept.
  public private(set) var bodyByteCount = 0

  /// An empty message that keeps up to `bodyLimit` bytes of body.
  public init(bodyLimit: Int = HTTPMessage.requestBodyLimit) {
    self.bodyLimit = bodyLimit
    storage.reserveCapacity(Self.firstCapacity)
  }

  // MARK: Reading

  /// The value of a field's first occurrence, or nil.
  public subscript(field: ProviderField) -> Span<UInt8>? {
    @_lifetime(borrow self)
    get {
      guard let offset = offset(of: field), let place = FieldBlock.field(in: storage.span, at: offset) else {
        return nil
      }
      return storage.span.extracting(place.value)
    }
  }

  /// Where a field's first occurrence begins in `fieldBytes`, or nil.
  func offset(of field: ProviderField) -> Int? {
    let offset = Int(known[Int(field.rawValue)])
    return offset == 0 ? nil : offset - 1
  }

  /// All fields, laid out as in a `FieldBlock`, but with the value of `authorization`.
  var fieldBytes: Span<UInt8> {
    @_lifetime(borrow self) get { storage.span.extracting(first: fieldsEnd) }
  }

  /// The value of a field as text, or nil. For whoever looks at a message, not for the checks.
  public func text(_ field: ProviderField) -> String? { self[field].flatMap { $0.text } }

  /// What was kept of the body.
  public var body: Span<UInt8> {
    @_lifetime(borrow self) get { storage.span.dropping(fieldsEnd) }
  }

  /// Every field in the order of arrival, raw: `authorization` is among them and must not be logged.
  public var fields: [(name: String, value: String)] { FieldBlock.read(fieldBytes, withSecrets: true) }

  // MARK: Filling

  /// Adds a field whose name is in lower case; false, and nothing added, when the list would pass its limit or
  /// the body has begun.
  public mutating func append(name: Span<UInt8>, value: Span<UInt8>) -> Bool {
    fieldListSize += name.count + value.count + Self.fieldOverhead
    guard fieldListSize <= Self.fieldListLimit, bodyByteCount == 0 else { return false }
    note(name)
    FieldBlock.append(name, value, to: &storage)
    fieldsEnd = storage.count
    return true
  }

  /// Adds a field given as text; the name is put into lower case.
  @discardableResult
  public mutating func append(name: String, value: String) -> Bool {
    append(name: Array(name.lowercased().utf8).span, value: Array(value.utf8).span)
  }

  /// Adds bytes to the body; beyond the limit they are counted, not kept.
  public mutating func appendBody(_ bytes: Span<UInt8>) {
    bodyByteCount += bytes.count
    let room = bodyLimit - (storage.count - fieldsEnd)
    storage.append(bytes.prefix(max(0, room)))
  }

  /// Empties the message for the next one.
  public mutating func reset() {
    storage.removeAll(keepingCapacity: storageBytes <= Self.keptCapacity)
    storage.reserveCapacity(Self.firstCapacity)
    (bodyByteCount, fieldListSize, fieldsEnd) = (0, 0, 0)
    known = .zero
    (repeated, repeatsUnknownAPNsField) = ([], false)
  }

  // MARK: Storage

  /// Remembers where a known field is, or that it came again. Called before it is added.
  private mutating func note(_ name: Span<UInt8>) {
    if let field = ProviderField(lowercaseName: name) {
      if known[Int(field.rawValue)] == 0 {
        known[Int(field.rawValue)] = UInt16(truncatingIfNeeded: fieldsEnd + 1)
      } else {
        repeated.insert(ProviderFieldSet(field))
      }
    } else if Self.isAPNsName(name), hasField(name) {
      repeatsUnknownAPNsField = true
    }
  }

  private func hasField(_ name: Span<UInt8>) -> Bool {
    var found = false
    FieldBlock.forEach(in: fieldBytes) { other, _ in found = found || other.hasSameBytes(as: name) }
    return found
  }

  private static func isAPNsName(_ name: Span<UInt8>) -> Bool { name.count > 5 && name.begins(with: "apns-") }
}
