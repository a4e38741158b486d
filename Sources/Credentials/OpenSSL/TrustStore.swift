import Basics
import COpenSSL
import Platform

/// The CAs in which a certificate chain may end: fixed ones, and those in a folder that people fill while we run.
@safe final class TrustStore {
  /// Most certificates between leaf and CA that are looked at; real chains have one or two.
  static let maximumIntermediates = 8

  private let anchors: [Certificate]
  private var watch: FolderWatch
  private var store: Owned<OpaquePointer>?

  /// Files of the folder that hold no certificate, each with the reason.
  private(set) var ignored: [CredentialsError] = []

  init(anchors: [Certificate], folder: String) {
    self.anchors = anchors
    watch = FolderWatch(folder)
    reload()
  }

  /// Whether a chain from `leaf` to a CA holds at a moment: `X509_V_OK` or the first `X509_V_ERR_…`. An unknown
  /// CA makes the folder be looked at again.
  func verify(_ leaf: Certificate, intermediates: [Certificate], at now: Timestamp) -> Int32 {
    defer { OpenSSLError.clear() }
    let result = check(leaf, intermediates, now)
    guard CertificateProblem.isUnknownCA(result), watch.hasChanged else { return result }
    reload()
    return check(leaf, intermediates, now)
  }

  private func reload() {
    watch.willRead()
    ignored = []
    unsafe store = unsafe Owned(X509_STORE_new(), X509_STORE_free)
    for certificate in anchors + added() { unsafe X509_STORE_add_cert(store?.handle, certificate.handle) }
    OpenSSLError.clear()
  }

  private func added() -> [Certificate] {
    FileSystem.names(in: watch.path, suffix: ".pem").flatMap { name -> [Certificate] in
      let path = "\(watch.path)/\(name)"
      do throws(CredentialsError) {
        let found = Certificate.all(pem: try FileSystem.read(path))
        if found.isEmpty { ignored.append(CredentialsError(.malformed, "\(path) holds no PEM certificate")) }
        return found
      } catch {
        ignored.append(error)
        return []
      }
    }
  }

  private func check(_ leaf: Certificate, _ intermediates: [Certificate], _ now: Timestamp) -> Int32 {
    // The context refers to the chain, and so ends before it.
    guard let chain = CertificateStack(intermediates.prefix(Self.maximumIntermediates)),
      let context = unsafe Owned(X509_STORE_CTX_new(), X509_STORE_CTX_free)
    else { return X509_V_ERR_OUT_OF_MEM }
    guard unsafe X509_STORE_CTX_init(context.handle, store?.handle, leaf.handle, chain.handle) == 1 else {
      return X509_V_ERR_UNSPECIFIED
    }
    unsafe configure(X509_STORE_CTX_get0_param(context.handle), now)
    guard unsafe X509_verify_cert(context.handle) != 1 else { return X509_V_OK }
    let error = unsafe X509_STORE_CTX_get_error(context.handle)
    return error == X509_V_OK ? X509_V_ERR_UNSPECIFIED : error
  }

  /// Partial chains, because a single certificate or an intermediate may be what is trusted. Level 0, because device
  /// keys of 1024 bits and CAs that sign with SHA-1 belong to the protocols emulated here.
  private func configure(_ parameters: OpaquePointer?, _ now: Timestamp) {
    unsafe X509_VERIFY_PARAM_set_flags(parameters, UInt(X509_V_FLAG_PARTIAL_CHAIN))
    unsafe X509_VERIFY_PARAM_set_auth_level(parameters, 0)
    unsafe X509_VERIFY_PARAM_set_purpose(parameters, X509_PURPOSE_SSL_CLIENT)
    unsafe X509_VERIFY_PARAM_set_time(parameters, time_t(now.seconds))
  }
}
