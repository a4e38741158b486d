import COpenSSL

/// A certificate subject or issuer, attribute by attribute in order.
struct DistinguishedName {
  struct Attribute {
    /// `NID_…`.
    var kind: Int32
    var text: String
  }

  var attributes: [Attribute]

  init(_ attributes: (Int32, String)...) {
    self.attributes = attributes.map { Attribute(kind: $0.0, text: $0.1) }
  }

  /// Adds the attributes to `name`, which stays the caller's. False when OpenSSL refuses.
  ///
  /// The string type is set outright: the text functions would cut common names at the 64 characters of X.520, and
  /// Apple's prefix alone has 37.
  func append(to name: OpaquePointer?) -> Bool {
    attributes.allSatisfy { attribute in
      let type = attribute.kind == NID_countryName ? V_ASN1_PRINTABLESTRING : V_ASN1_UTF8STRING
      let text = Array(attribute.text.utf8)
      return X509_NAME_add_entry_by_NID(name, attribute.kind, type, text, Int32(clamping: text.count), -1, 0)
        == 1
    }
  }
}
