import COpenSSL

/// The parts of a PKCS#12 file, none of which is deciphered before it is asked for.
@safe final class PKCS12Bundle {
  private let file: Owned<OpaquePointer>

  /// nil for other bytes.
  init?(_ bytes: [UInt8]) {
    guard let buffer = MemoryBuffer(bytes),
      let file = unsafe Owned(d2i_PKCS12_bio(buffer.handle, nil), PKCS12_free)
    else { return nil }
    unsafe self.file = unsafe file
  }

  /// What the code over all of it is made with, and the rounds of its derivation as a count, which are one where they are left out.
  var code: (algorithm: AlgorithmIdentifier?, rounds: Int64) {
    var (algorithm, rounds): (UnsafePointer<X509_ALGOR>?, UnsafePointer<ASN1_INTEGER>?)
    unsafe PKCS12_get0_mac(nil, &algorithm, nil, &rounds, file.handle)
    return unsafe (
      AlgorithmIdentifier(copying: algorithm), rounds == nil ? 1 : AlgorithmIdentifier.number(rounds)
    )
  }

  func isCoded(with password: PKCS12Password) -> Bool {
    unsafe password.lend { unsafe PKCS12_verify_mac(file.handle, $0, $1) } == 1
  }

  /// nil if they can't be read.
  var safes: PKCS12Safes? { unsafe PKCS12Safes(owning: PKCS12_unpack_authsafes(file.handle)) }
}

/// A password as PKCS#12 takes it.
struct PKCS12Password {
  private let given: [CChar]
  /// Whether it is left out rather than empty: for PKCS#12 that is not the same, and both are written.
  var isLeftOut = false

  init(_ text: String) { given = Array(text.utf8CString) }

  var isEmpty: Bool { given.count == 1 }

  /// To one call of OpenSSL.
  fileprivate func lend<Value>(_ use: (UnsafePointer<CChar>?, Int32) -> Value) -> Value {
    unsafe isLeftOut
      ? use(nil, 0) : given.withUnsafeBufferPointer { unsafe use($0.baseAddress, Int32($0.count - 1)) }
  }
}

/// Bags that were packed together, and perhaps enciphered.
@safe final class PKCS12Safes {
  /// A stack of `PKCS7`, freed with them.
  private let stack: Owned<OpaquePointer>

  fileprivate init?(owning stack: OpaquePointer?) {
    let free = {
      unsafe OPENSSL_sk_pop_free($0) { unsafe PKCS7_free($0?.assumingMemoryBound(to: PKCS7.self)) }
    }
    guard let stack = unsafe Owned(stack, free) else { return nil }
    unsafe self.stack = unsafe stack
  }

  var indices: Range<Int32> { unsafe 0..<max(0, OPENSSL_sk_num(stack.handle)) }

  private subscript(index: Int32) -> UnsafeMutablePointer<PKCS7>? {
    unsafe OPENSSL_sk_value(stack.handle, index)?.assumingMemoryBound(to: PKCS7.self)
  }

  /// `NID_pkcs7_…`.
  func kind(_ index: Int32) -> Int32 { unsafe OBJ_obj2nid(self[index]?.pointee.type) }

  /// What one of `NID_pkcs7_encrypted` is enciphered with; nil if that can't be read.
  func encryption(_ index: Int32) -> AlgorithmIdentifier? {
    guard kind(index) == NID_pkcs7_encrypted else { return nil }
    return unsafe AlgorithmIdentifier(
      copying: self[index]?.pointee.d.encrypted?.pointee.enc_data?.pointee.algorithm)
  }

  /// The bags of one of `NID_pkcs7_data`, or with a password of one that is enciphered; nil if they can't be read.
  func bags(_ index: Int32, _ password: PKCS12Password?) -> PKCS12Bags? {
    guard let password else { return unsafe PKCS12Bags(owning: PKCS12_unpack_p7data(self[index])) }
    return unsafe PKCS12Bags(owning: password.lend { unsafe PKCS12_unpack_p7encdata(self[index], $0, $1) })
  }
}

/// Keys, certificates, and bags of them.
@safe final class PKCS12Bags {
  /// A stack of `PKCS12_SAFEBAG`. It is freed with them, unless it lies in another, which is kept.
  private let stack: Owned<OpaquePointer>
  private let outer: PKCS12Bags?

  fileprivate init?(owning stack: OpaquePointer?, in outer: PKCS12Bags? = nil) {
    let isOwn = outer == nil
    let free = {
      if isOwn { unsafe OPENSSL_sk_pop_free($0) { unsafe PKCS12_SAFEBAG_free(OpaquePointer($0)) } }
    }
    guard let stack = unsafe Owned(stack, free) else { return nil }
    unsafe self.stack = unsafe stack
    self.outer = outer
  }

  var indices: Range<Int32> { unsafe 0..<max(0, OPENSSL_sk_num(stack.handle)) }

  private subscript(index: Int32) -> OpaquePointer? {
    unsafe OPENSSL_sk_value(stack.handle, index).map { OpaquePointer($0) }
  }

  /// `NID_…Bag`; 0 where there is none.
  func kind(_ index: Int32) -> Int32 { unsafe self[index].map { unsafe PKCS12_SAFEBAG_get_nid($0) } ?? 0 }

  /// Of one of `NID_keyBag`.
  func key(_ index: Int32) -> PrivateKey? {
    guard let clear = unsafe PKCS12_SAFEBAG_get0_p8inf(self[index]) else { return nil }
    return unsafe PrivateKey(taking: EVP_PKCS82PKEY(clear))
  }

  /// Of one of `NID_certBag`.
  func certificate(_ index: Int32) -> Certificate? {
    unsafe Certificate(taking: PKCS12_SAFEBAG_get1_cert(self[index]))
  }

  /// Of one of `NID_safeContentsBag`; nil if they can't be read.
  func bags(_ index: Int32) -> PKCS12Bags? {
    unsafe PKCS12Bags(owning: PKCS12_SAFEBAG_get0_safes(self[index]), in: self)
  }

  /// What one of `NID_pkcs8ShroudedKeyBag` is enciphered with.
  func encryption(_ index: Int32) -> AlgorithmIdentifier? {
    var algorithm: UnsafePointer<X509_ALGOR>?
    unsafe X509_SIG_get0(PKCS12_SAFEBAG_get0_pkcs8(self[index]), &algorithm, nil)
    return unsafe AlgorithmIdentifier(copying: algorithm)
  }

  /// Its key, nil if OpenSSL knows none of its kind; nothing at all if it can't be deciphered.
  func key(_ index: Int32, _ password: PKCS12Password) -> PrivateKey?? {
    guard
      let clear = unsafe Owned(
        password.lend { unsafe PKCS12_decrypt_skey(self[index], $0, $1) }, unsafe PKCS8_PRIV_KEY_INFO_free)
    else { return nil }
    return unsafe .some(PrivateKey(taking: EVP_PKCS82PKEY(clear.handle)))
  }
}
