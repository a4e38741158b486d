import PushModel

/// All token keys of the keys folder. Keys that are dropped in later are found when somebody uses them.
final class ProviderKeyRing {
  private var keys: [String: ProviderKey] = [:]
  private var watch: FolderWatch

  /// Files that hold no usable key, each with the reason.
  private(set) var ignored: [CredentialsError] = []
  /// Counts how often the folder was read: what was verified before may be outdated.
  private(set) var generation = 0

  init(folder: String) {
    watch = FolderWatch(folder)
    reload()
  }

  /// The key with this id. An unknown one makes the folder be looked at again.
  func key(_ id: String) -> ProviderKey? {
    if let key = keys[id] { return key }
    pickUpChanges()
    return keys[id]
  }

  /// Reads the folder again if it may have changed.
  func pickUpChanges() {
    if watch.hasChanged { reload() }
  }

  /// The key with this id if its files have changed since it was loaded.
  func replacement(of key: ProviderKey) -> ProviderKey? {
    guard key.files.haveChanged else { return nil }
    reload()
    return keys[key.record.keyId]
  }

  private func reload() {
    watch.willRead()
    generation += 1
    ignored = []
    keys = [:]
    for name in FileSystem.names(in: watch.path, suffix: ProviderKey.fileSuffix) {
      guard let id = ProviderKey.keyId(inFileName: name) else { continue }
      do throws(CredentialsError) {
        keys[id] = try ProviderKey(folder: watch.path, keyId: id)
      } catch {
        ignored.append(error)
      }
    }
  }
}
