import COpenSSL

/// An algorithm and its parameters, as a file names what it was encrypted or coded with.
@safe final class AlgorithmIdentifier {
  private let copy: Owned<UnsafeMutablePointer<X509_ALGOR>>

  /// nil where there is none.
  init?(copying algorithm: UnsafePointer<X509_ALGOR>?) {
    guard let algorithm = unsafe algorithm,
      let copy = unsafe Owned(X509_ALGOR_dup(algorithm), X509_ALGOR_free)
    else { return nil }
    unsafe self.copy = unsafe copy
  }

  /// That of an `EncryptedPrivateKeyInfo` in DER; nil for anything else.
  convenience init?(ofEncryptedKey der: [UInt8]) {
    var algorithm: UnsafePointer<X509_ALGOR>?
    guard let key = unsafe Owned(MemoryBuffer.decoded(der, d2i_X509_SIG)?.handle, X509_SIG_free) else {
      return nil
    }
    unsafe X509_SIG_get0(key.handle, &algorithm, nil)
    unsafe self.init(copying: algorithm)
  }

  /// Its kind, `NID_…`.
  var kind: Int32 { unsafe OBJ_obj2nid(copy.handle.pointee.algorithm) }

  /// How the key is derived, where the parameters are those of PBES2.
  var derivation: AlgorithmIdentifier? {
    unsafe parameters(d2i_PBE2PARAM, PBE2PARAM_free) { unsafe AlgorithmIdentifier(copying: $0.keyfunc) }
  }

  /// Rounds of PBKDF2, as a count.
  var derivationRounds: Int64? {
    unsafe parameters(d2i_PBKDF2PARAM, PBKDF2PARAM_free) { unsafe Self.number($0.iter) }
  }

  /// Rounds of any other encryption by password, as a count.
  var encryptionRounds: Int64? {
    unsafe parameters(d2i_PBEPARAM, PBEPARAM_free) { unsafe Self.number($0.iter) }
  }

  /// What the work of scrypt is the product of.
  var scryptFactors: [Int64]? {
    unsafe parameters(d2i_SCRYPT_PARAMS, SCRYPT_PARAMS_free) {
      unsafe [
        Self.number($0.costParameter), Self.number($0.blockSize), Self.number($0.parallelizationParameter),
      ]
    }
  }

  /// What a number of a file is; what has no room in 64 bits is more than any limit.
  static func number(_ value: UnsafePointer<ASN1_INTEGER>?) -> Int64 {
    var number: Int64 = 0
    guard let value = unsafe value, unsafe ASN1_INTEGER_get_int64(&number, value) == 1 else { return .max }
    return number
  }

  /// What `read` finds in the parameters, if they are of that form.
  private func parameters<Form, Value>(
    _ decode: MemoryBuffer.Decoder<UnsafeMutablePointer<Form>>,
    _ release: @escaping (UnsafeMutablePointer<Form>?) -> Void,
    _ read: (Form) -> Value?
  ) -> Value? {
    var (kind, value): (Int32, UnsafeRawPointer?) = (0, nil)
    unsafe X509_ALGOR_get0(nil, &kind, &value, copy.handle)
    guard kind == V_ASN1_SEQUENCE, let value = unsafe value else { return nil }
    let bytes = unsafe Certificate.bytes(value.assumingMemoryBound(to: ASN1_STRING.self))
    let found = unsafe MemoryBuffer.decoded(bytes, decode)?.handle
    guard let form = unsafe Owned(found, { unsafe release($0) }) else { return nil }
    return unsafe read(form.handle.pointee)
  }
}
