import Basics
import COpenSSL
import Testing

import Credentials

/// RSA keys of another shape than ours have, as strangers may make them.
final class TestKey {
  /// An odd number beyond 2³²: of 41 bits.
  static let longExponent: UInt = 1 << 40 | 0xf

  private let handle: OpaquePointer

  /// Of more than two primes, as those are found sooner.
  init(exponent: UInt, bits: Int32 = 2048, primes: Int32 = 3) throws {
    let context = try #require(EVP_PKEY_CTX_new_id(EVP_PKEY_RSA, nil))
    defer { EVP_PKEY_CTX_free(context) }
    let number = try #require(BN_new())
    defer { BN_free(number) }
    var key: OpaquePointer?
    try #require(
      BN_set_word(number, exponent) == 1 && EVP_PKEY_keygen_init(context) == 1
        && EVP_PKEY_CTX_set_rsa_keygen_bits(context, bits) == 1
        && EVP_PKEY_CTX_set_rsa_keygen_primes(context, primes) == 1
        && EVP_PKEY_CTX_set1_rsa_keygen_pubexp(context, number) == 1 && EVP_PKEY_keygen(context, &key) == 1)
    handle = try #require(key)
  }

  deinit { EVP_PKEY_free(handle) }

  /// The key for the rest of the module.
  var key: PrivateKey { get throws { try #require(PrivateKey(pem: pem)) } }

  private var pem: [UInt8] {
    get throws {
      try Self.text { PEM_write_bio_PKCS8PrivateKey($0, handle, nil, nil, 0, nil, nil) }
    }
  }

  /// A certificate request for it, in PEM.
  var request: [UInt8] {
    get throws {
      let request = try #require(X509_REQ_new())
      defer { X509_REQ_free(request) }
      try #require(X509_REQ_set_pubkey(request, handle) == 1)
      try #require(X509_REQ_sign(request, handle, EVP_sha256()) > 0)
      return try Self.text { PEM_write_bio_X509_REQ($0, request) }
    }
  }

  /// What `write` puts into a memory buffer.
  static func text(_ write: (OpaquePointer) -> Int32) throws -> [UInt8] {
    let buffer = try #require(BIO_new(BIO_s_mem()))
    defer { BIO_free(buffer) }
    try #require(write(buffer) == 1)
    var start: UnsafePointer<UInt8>?
    let count = shim_bio_contents(buffer, &start)
    return Array(UnsafeBufferPointer(start: start, count: count))
  }
}
