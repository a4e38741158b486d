/// Which signals wait instead of arriving.
public enum SignalMask {
  /// Lets every signal arrive. A process inherits the mask of whoever started it, and some starters (Foundation's
  /// `Process` among them) block nearly everything while they do.
  public static func clear() {
    var none = sigset_t()
    sigemptyset(&none)
    pthread_sigmask(SIG_SETMASK, &none, nil)
  }
}
