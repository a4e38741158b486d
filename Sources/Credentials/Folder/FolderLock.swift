import Platform

/// Keeps other processes from filling the same folder at the same time: of two emulators started at once, the second
/// finds what the first has made.
struct FolderLock {
  private let descriptor: Int32

  /// Waits for the folder. A file system without locks is used without one.
  init(_ folder: String) throws(CredentialsError) {
    descriptor = open(folder, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw FileSystem.failure(.unreadable, folder) }
    while flock(descriptor, LOCK_EX) != 0, errno == EINTR {}
  }

  /// Lets others in. Call it once.
  func release() { close(descriptor) }
}
