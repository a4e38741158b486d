import Basics
import Credentials
import Platform
import Services

/// Where pushes of the gateway go instead of to devices here (`serve --forward`), and how.
public struct ForwardOptions: Sendable {
  /// Most notifications that wait for the other service or are on their way to it, as a count: at the gateway's largest
  /// payload some 25 MB.
  package static let defaultQueueLimit = 10_000
  /// Notifications of one provider connection that may be on their way at a time, as a count: at Apple's distance of some
  /// 100 ms a thousand a second.
  ///
  /// The binary protocol has the gateway discard whatever follows a bad notification, but what was forwarded can't be called
  /// back. It is remembered instead (`DiscardedPushes`), and not forwarded a second time when the provider resends it. With a
  /// window of 1 nothing follows, at a hundredth of the pace.
  package static let defaultWindow = 100
  /// Largest `window`, as a count.
  package static let maximumWindow = 1000

  public var target: SocketAddress
  /// The token key (`.p8`) to sign provider tokens with.
  public var key = ""
  /// nil: from the file's name `AuthKey_<KEY>.p8`.
  public var keyId: String?
  /// nil: from `<KEY>.json` beside the key.
  public var team: String?
  /// PEM of the CA to trust; nil: ours for a target on loopback, else what the system trusts.
  public var ca: String?
  /// Name that the target's certificate must have; nil: its host.
  public var serverName: String?
  /// A proxy that leads to the target, and what it wants to know of who asks; nil: none is needed.
  public var proxy: SocketAddress?
  public var proxyAuthorization: String?
  public var window = defaultWindow
  public var queueLimit = defaultQueueLimit

  public init(target: SocketAddress) { self.target = target }

  // MARK: The key

  /// Reads the key; what the options leave open is taken from the names and files of a keys folder
  /// (`certs/README.md`).
  func signer() throws -> ProviderTokenSigner {
    let found: (keyId: String, team: String)
    do {
      found = try ProviderTokenSigner.keyAndTeam(ofFile: key, keyId: keyId, team: team)
    } catch {
      throw EmulatorError(.failed, "--forward: \(error)")
    }
    do {
      return try ProviderTokenSigner(p8Path: key, keyId: found.keyId, teamId: found.team)
    } catch {
      throw EmulatorError(.failed, "--forward can't use the key \(key): \(error)")
    }
  }
}
