import Basics

/// All token keys of the keys folder. Keys that are dropped in later are found when somebody uses them.
final class ProviderKeyRing {
  private var keys: [String: ProviderKey] = [:]
  private var watch: FolderWatch

  /// Files that hold no usable key, each with the reason.
  private(set) var ignored: [CredentialsError] = []
  /// Counts changes: what was refused before may be good.
  private(set) var generation = 0
  /// Ids of keys that are others now, or gone, since they were last taken.
  private var outdated: Set<String> = []

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

  /// Call it when a key was added: the next look finds it, however many were added just before.
  func expectChange() { watch.expectChange() }

  /// The key with this id if its files have changed since it was loaded.
  func replacement(of key: ProviderKey) -> ProviderKey? {
    guard key.files.haveChanged, watch.mayBeRead else { return nil }
    reload()
    return keys[key.record.keyId]
  }

  /// Ids of keys whose tokens must be verified again.
  func takeOutdated() -> Set<String> {
    defer { outdated = [] }
    return outdated
  }

  private func reload() {
    watch.willRead()
    ignored = []
    var found: [String: ProviderKey] = [:]
    for name in FileSystem.names(in: watch.path, suffix: ProviderKey.fileSuffix) {
      guard let id = ProviderKey.keyId(inFileName: name) else { continue }
      do throws(CredentialsError) {
        found[id] = try key(id, in: watch.path)
      } catch {
        ignored.append(error)
      }
    }
    exchange(for: found)
  }

  /// The one we have, unless its files may be others.
  private func key(_ id: String, in folder: String) throws(CredentialsError) -> ProviderKey {
    if let known = keys[id], known.isSettled, !known.files.haveChanged { return known }
    return try ProviderKey(folder: folder, keyId: id)
  }

  private func exchange(for found: [String: ProviderKey]) {
    let gone = keys.filter { id, key in found[id].map { !$0.isSame(as: key) } ?? true }
    if !gone.isEmpty || found.count > keys.count - gone.count { generation += 1 }
    outdated.formUnion(gone.keys)
    keys = found
  }
}
