/// The descriptors 0, 1 and 2.
public enum StandardDescriptors {
  /// Opens nothing in the place of those that this process was started without: the next file or socket would get their
  /// numbers, and what is meant for people would be written into it.
  public static func fill() {
    for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
      // The lowest free number, which is this one.
      _ = open("/dev/null", O_RDWR)
    }
  }
}
