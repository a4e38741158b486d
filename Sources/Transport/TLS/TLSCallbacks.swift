import Basics
import COpenSSL

/// What OpenSSL asks in a handshake. A context of OpenSSL holds a reference to this, which it releases when it is freed itself: with the
/// last of its connections, however long that outlives `TLSContext`.
final class TLSCallbacks {
  private let policy: TLSPolicy
  /// The certificate and the name that were believed last, for `TLSPolicy.remembersServer`.
  private var believed: (leaf: [UInt8], name: String)?

  private init(_ policy: TLSPolicy) { self.policy = policy }

  /// Where contexts have it.
  private static let place = unsafe CRYPTO_get_ex_new_index(CRYPTO_EX_INDEX_SSL_CTX, 0, nil, nil, nil) {
    _, callbacks, _, _, _, _ in
    if let callbacks = unsafe callbacks { unsafe Unmanaged<TLSCallbacks>.fromOpaque(callbacks).release() }
  }

  /// Has a context ask what the policy has an opinion of; false if there is no memory.
  static func install(_ policy: TLSPolicy, in context: OpaquePointer, isServer: Bool) -> Bool {
    let callbacks = unsafe Unmanaged.passRetained(TLSCallbacks(policy))
    let argument = unsafe callbacks.toOpaque()
    guard unsafe SSL_CTX_set_ex_data(context, place, argument) == 1 else {
      unsafe callbacks.release()
      return false
    }
    if isServer, policy.chainCheck != nil {
      unsafe SSL_CTX_set_cert_verify_callback(context, checkChain, argument)
    }
    if isServer, policy.protocols != nil { unsafe SSL_CTX_set_alpn_select_cb(context, chooseALPN, argument) }
    if !isServer, policy.remembersServer {
      unsafe SSL_CTX_set_cert_verify_callback(context, checkOnce, argument)
    }
    return true
  }

  /// What `install` has given to a context.
  fileprivate static func of(_ argument: UnsafeMutableRawPointer?) -> TLSCallbacks? {
    unsafe argument.map { unsafe Unmanaged<TLSCallbacks>.fromOpaque($0).takeUnretainedValue() }
  }

  /// Whether the client's chain is good; else the error.
  fileprivate func problem(_ leaf: [UInt8], _ intermediates: [[UInt8]]) -> Int32? {
    policy.chainCheck?(leaf, intermediates)
  }

  /// Whether a server is believed: it is if `verify` says so, and the next time without asking.
  fileprivate func believes(_ leaf: [UInt8], _ name: String, verify: () -> Bool) -> Bool {
    if let believed, believed == (leaf, name) { return true }
    guard verify() else { return false }
    believed = (leaf, name)
    return true
  }

  /// Where the name chosen stands in an offer, and what it makes of `TLSPolicy.clientCertificate`.
  fileprivate func choose(_ offer: Span<UInt8>) -> (range: Range<Int>, wanted: TLSPolicy.ClientCertificate?)?
  {
    let offers = ALPNList(offer)
    guard let protocols = policy.protocols, let chosen = protocols.choose(offers.names),
      let range = offers.range(of: chosen)
    else { return nil }
    return (range, protocols.clientCertificate(chosen))
  }
}

/// OpenSSL asks whether the client's chain is good.
private func checkChain(_ store: OpaquePointer?, _ argument: UnsafeMutableRawPointer?) -> Int32 {
  guard let store = unsafe store, let callbacks = unsafe TLSCallbacks.of(argument) else { return 0 }
  let chain = unsafe X509_STORE_CTX_get0_untrusted(store)
  let intermediates = unsafe (0..<max(0, OPENSSL_sk_num(chain))).compactMap {
    unsafe derEncoding(OpaquePointer(OPENSSL_sk_value(chain, $0)))
  }
  guard let leaf = unsafe derEncoding(X509_STORE_CTX_get0_cert(store)) else { return 0 }
  guard let error = callbacks.problem(leaf, intermediates) else { return 1 }
  unsafe X509_STORE_CTX_set_error(store, error)
  return 0
}

/// OpenSSL asks a client that comes often whether the server's chain is good.
private func checkOnce(_ store: OpaquePointer?, _ argument: UnsafeMutableRawPointer?) -> Int32 {
  guard let store = unsafe store, let callbacks = unsafe TLSCallbacks.of(argument) else { return 0 }
  guard let leaf = unsafe derEncoding(X509_STORE_CTX_get0_cert(store)) else { return 0 }
  let host = unsafe X509_VERIFY_PARAM_get0_host(X509_STORE_CTX_get0_param(store), 0)
  let name = unsafe host.map { unsafe String(cString: $0) } ?? ""
  return callbacks.believes(leaf, name) { unsafe X509_verify_cert(store) == 1 } ? 1 : 0
}

/// OpenSSL asks for one of the protocol names that the client offers.
private func chooseALPN(
  _ ssl: OpaquePointer?, _ output: UnsafeMutablePointer<UnsafePointer<UInt8>?>?,
  _ outputLength: UnsafeMutablePointer<UInt8>?, _ input: UnsafePointer<UInt8>?, _ inputLength: UInt32,
  _ argument: UnsafeMutableRawPointer?
) -> Int32 {
  let offer = unsafe UnsafeRawBufferPointer(start: input, count: Int(inputLength))
  guard let ssl = unsafe ssl, let output = unsafe output, let outputLength = unsafe outputLength,
    let input = unsafe input,
    let (range, wanted) = unsafe TLSCallbacks.of(argument)?.choose(offer.span)
  else { return SSL_TLSEXT_ERR_NOACK }
  if let wanted { unsafe SSL_set_verify(ssl, wanted.mode, nil) }
  unsafe output.pointee = unsafe input + range.lowerBound
  unsafe outputLength.pointee = UInt8(range.count)
  return SSL_TLSEXT_ERR_OK
}

/// DER of a certificate that somebody else owns.
func derEncoding(_ certificate: OpaquePointer?) -> [UInt8]? {
  guard let certificate = unsafe certificate else { return nil }
  var bytes = unsafe [UInt8](repeating: 0, count: max(0, Int(i2d_X509(certificate, nil))))
  let count = unsafe bytes.withUnsafeMutableBufferPointer {
    var cursor = $0.baseAddress
    return unsafe $0.isEmpty ? 0 : i2d_X509(certificate, &cursor)
  }
  return count > 0 && count == bytes.count ? bytes : nil
}
