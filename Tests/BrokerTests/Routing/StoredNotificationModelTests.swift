import TestSupport
import Testing

@Suite("The last message against a model")
struct StoredNotificationModelTests {
  /// The model in a cluster is `ClusterModelTests`'.
  @Test(
    "a device gets the newest, once, never an older one after a newer",
    arguments: 1...20 as ClosedRange<UInt64>)
  func agrees(_ seed: UInt64) throws {
    var model = try StoredNotificationModel(SoleBroker(), seed: seed)
    try model.run(steps: 1500)
    // Without these nothing would have been tried.
    #expect(model.delivered > 100)
  }
}
