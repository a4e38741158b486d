import PushModel

/// Where a push came from, in the numbers of the capture; zeros while nothing is captured.
struct PushSource {
  var connection: UInt32 = 0
  var credential: UInt32 = 0

  init(connection: UInt32) { self.connection = connection }

  init(connection: UInt32, _ message: HTTPMessage, _ capture: CaptureRecorder?) {
    guard let capture else { return }
    self.connection = connection
    if let authorization = message[.authorization] { credential = capture.credential(authorization) }
  }
}
