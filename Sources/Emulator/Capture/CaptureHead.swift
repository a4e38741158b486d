import PushModel

/// What the writer must know of one record besides its bytes.
struct CaptureHead: BitwiseCopyable {
  static let size = (MemoryLayout<CaptureHead>.size + 15) & ~15

  enum Kind: UInt8, BitwiseCopyable {
    /// First: the frame.
    case frame
    /// First: frames that were accepted, one behind the other.
    case frames
    /// First: the header fields as a `FieldBlock`; second: the body.
    case request
    /// First: the topic of its certificate, empty for none.
    case opened
    case closed
    /// First: what stands for the authorization numbered `credential`.
    case credential
  }

  var kind: Kind
  var interface = Interface.gateway
  var environment = Environment.sandbox
  var rejection: Rejection?
  /// Command of a frame; after command 0 no packet is sent.
  var command: UInt8 = 0
  var connection: UInt32 = 0
  /// As the error packet says it.
  var identifier: UInt32 = 0
  var credential: UInt32 = 0
  var frames: UInt32 = 0
  var firstCount: UInt32 = 0
  var secondCount: UInt32 = 0
  /// Since the capture began.
  var nanoseconds: Int64
  var apnsID: APNSID?
}
