/// What a TLS endpoint offers and asks for.
public struct TLSPolicy {
  /// Protocol versions by their wire numbers.
  public enum Version: Int32, Sendable {
    case tls10 = 0x0301
    case tls11 = 0x0302
    case tls12 = 0x0303
    case tls13 = 0x0304
  }

  /// Whether the server asks its client for a certificate.
  public enum ClientCertificate: Sendable {
    case none, optional, required
  }

  /// What a peer's certificate chain is worth: nil accepts it, otherwise the X.509 error code (`X509_V_ERR_…`)
  /// that selects the TLS alert.
  public typealias ChainCheck = (_ leaf: [UInt8], _ intermediates: [[UInt8]]) -> Int32?

  public var minimum = Version.tls12
  public var maximum = Version.tls13
  /// Old ciphers and signatures too, as clients of the time need them (OpenSSL security level 0).
  public var allowsOldCiphers = false
  public var clientCertificate = ClientCertificate.none
  public var chainCheck: ChainCheck?
  /// Chooses one of the protocol names that the client offers, or none.
  public var selectALPN: (([String]) -> String?)?
  /// What another ALPN name than none makes of `clientCertificate`; nil leaves it. Channel management shares the
  /// gateway's port, and its clients may bring a provider token instead
  /// (`Documentation/provider-api.md#channel-management`); newer devices show their certificate inside
  /// (`Documentation/device-protocol.md#transport`).
  public var clientCertificateWithALPN: ((_ name: String) -> ClientCertificate?)?
  /// Read ahead by this many bytes; 0 asks the system for the head of each record and then for its body. Memory for it is
  /// held while something is unread.
  public var readAhead = 0
  /// Peers send a little now and then: behind a read that gave little, the socket is not asked for more until it tells of
  /// it. One that streams would be read in smaller pieces so.
  public var peersSayLittle = false
  /// How long the TLS close keeps off the data before it, in nanoseconds, unless the peer ends first. Two libraries of Go
  /// that find both in one read drop the data: an error packet, tuples of the feedback service.
  public var closeDelay: Int64 = 0
  /// A client that comes by the thousand looks through a server's chain once, and then believes the very same certificate
  /// under the same name: what each look leaves behind in the certificate is some 2 KiB a connection.
  public var remembersServer = false

  public init() {}
}
