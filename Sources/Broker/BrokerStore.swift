/// Where the token map, kept messages and channels survive a restart. Implemented by `Storage`.
public protocol BrokerStore: AnyObject {
  /// Writes one turn's changes as one transaction; when it returns, a crash of the process loses none of them.
  func commit(_ changes: BrokerChanges, of broker: Broker) throws
  /// Does what waits for the disk, if nothing was committed since the last call. To be called about once a second.
  func checkpointIfIdle() throws
  /// Ends in order.
  func close()
}
