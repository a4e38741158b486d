import COpenSSL

/// What OpenSSL has made for us alone, freed by the function that belongs to it at the end of this value.
@safe struct Owned<Handle>: ~Copyable {
  /// For calls of OpenSSL that keep none of it.
  let handle: Handle
  private let release: (Handle) -> Void

  /// nil for none.
  init?(_ handle: Handle?, _ release: @escaping (Handle) -> Void) {
    guard let handle else { return nil }
    (self.handle, self.release) = (handle, release)
  }

  deinit { release(handle) }
}

/// Certificates for one call of OpenSSL, of which it takes no more.
@safe struct CertificateStack: ~Copyable {
  private let stack: Owned<OpaquePointer>
  var handle: OpaquePointer { unsafe stack.handle }

  /// Takes a reference to each; nil when memory is short.
  init?(_ certificates: some Sequence<Certificate>) {
    guard let stack = unsafe Owned(shim_chain_new(), shim_chain_free) else { return nil }
    for certificate in certificates {
      guard unsafe shim_chain_append(stack.handle, certificate.handle) == 1 else { return nil }
    }
    unsafe self.stack = unsafe stack
  }
}
