import CLibrary

/// A thread, to be known again.
public struct ThreadIdentity {
  private let handle = pthread_self()

  public init() {}

  /// Whether it is the one that asks.
  public var isCurrent: Bool { pthread_equal(handle, pthread_self()) != 0 }
}

/// A thread that runs one closure. Whoever lets go of this without waiting for its end leaves the thread to itself: what it has goes with it.
public final class WorkerThread {
  private let handle: pthread_t
  private var isOver = false

  /// Starts it; nil if the system can't start a thread.
  public init?(_ body: @escaping @Sendable () -> Void) {
    // The new thread takes the box over and releases it.
    let box = unsafe Unmanaged.passRetained(Box(body))
    #if canImport(Darwin)
      var thread: pthread_t?
      let status = unsafe pthread_create(&thread, nil, { unsafe Box.run($0) }, box.toOpaque())
    #else
      var thread = pthread_t()
      let status = unsafe pthread_create(
        &thread, nil, { unsafe $0.flatMap { unsafe Box.run($0) } }, unsafe box.toOpaque())
    #endif
    guard status == 0 else {
      unsafe box.release()
      return nil
    }
    #if canImport(Darwin)
      guard let thread else { return nil }
    #endif
    handle = thread
  }

  /// The same for a closure that gets a value, which is the new thread's alone from here on: the compiler sees that nobody else has it.
  public convenience init?<Value>(
    handingOver value: sending Value, _ body: @escaping @Sendable (Value) -> Void
  ) {
    nonisolated(unsafe) let value = value
    self.init { unsafe body(value) }
  }

  /// Has the thread that asks do nothing for a while.
  public static func sleep(microseconds: UInt32) { usleep(microseconds) }

  deinit {
    if !isOver { pthread_detach(handle) }
  }

  /// Waits for its end, if nobody has.
  public func join() {
    guard !isOver else { return }
    pthread_join(handle, nil)
    isOver = true
  }

  private final class Box {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }

    static func run(_ context: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
      unsafe Unmanaged<Box>.fromOpaque(context).takeRetainedValue().body()
      return nil
    }
  }
}
