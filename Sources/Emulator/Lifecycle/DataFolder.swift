import Basics
import Broker
import Cluster
import Credentials
import Platform
import Services
import Storage

/// What an emulator keeps between its lives: the secret that tokens are made with, and the store.
package enum DataFolder {
  static func secret(_ options: ServeOptions, _ cluster: ClusterNode?) throws -> TokenSecret {
    if let seed = options.credentials.tokenSeed { return TokenSecret(seed: seed) }
    // All nodes make the same tokens.
    if let cluster { return TokenSecret(seed: Hex.encode(cluster.secret)) }
    guard !options.files.isEphemeral else { return .random() }
    // The secret lies beside the store, for this user alone; whether the folder can be used shows when it is read.
    _ = PathCalls.makeFolder(options.files.data, 0o700)
    do {
      return try .kept(inFolder: options.files.data)
    } catch {
      throw EmulatorError(.storeUnusable, "the data folder can't be used: \(error)")
    }
  }

  static func openStore(_ options: ServeOptions, _ broker: Broker) throws -> (any BrokerStore)? {
    guard !options.files.isEphemeral else { return nil }
    do {
      let store = try SQLiteStore(path: storePath(in: options.files.data))
      try store.load(into: broker)
      return store
    } catch {
      throw EmulatorError(.storeUnusable, error.sentence)
    }
  }

  /// The store's file in a data folder.
  package static func storePath(in data: String) -> String { data + "/store.db" }
}
