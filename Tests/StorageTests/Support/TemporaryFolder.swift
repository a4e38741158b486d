import Platform
import Testing

/// A folder that goes away with this object.
final class TemporaryFolder {
  let path: String

  init() {
    do {
      path = try Platform.TemporaryFolder().path
    } catch {
      fatalError("\(error)")
    }
  }

  func file(_ name: String) -> String { path + "/" + name }

  func write(_ text: String, to name: String) {
    let file = fopen(file(name), "w")
    fputs(text, file)
    fclose(file)
  }

  func mode(of name: String) -> mode_t? {
    var status = stat()
    return stat(file(name), &status) == 0 ? status.st_mode & 0o777 : nil
  }

  func size(of name: String) -> Int {
    var status = stat()
    return stat(file(name), &status) == 0 ? Int(status.st_size) : 0
  }

  /// Copies a store's files as they are now.
  func copy(from other: TemporaryFolder) throws {
    for name in ["store.db", "store.db-wal"] {
      let source = try #require(fopen(other.file(name), "r"))
      let destination = try #require(fopen(file(name), "w"))
      var buffer = [UInt8](repeating: 0, count: 1 << 16)
      while case let count = fread(&buffer, 1, buffer.count, source), count > 0 {
        fwrite(buffer, 1, count, destination)
      }
      fclose(source)
      fclose(destination)
    }
  }

  deinit {
    for name in ["store.db", "store.db-wal", "store.db-shm", "a/b/store.db", "a/b/store.db-wal"] {
      unlink(file(name))
    }
    for name in ["a/b", "a"] { rmdir(file(name)) }
    rmdir(path)
  }
}
