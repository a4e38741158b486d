import CLibrary
import Platform

/// What libFuzzer calls with each input. Which decoder gets it is said once, by `APNS_EMULATOR_FUZZ_TARGET`.
///
/// A target must answer every input without a trap, a bad memory access or a growing memory. Where there is a second way
/// to the same answer it compares the two.

package func testOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  target.take(UnsafeRawBufferPointer(start: bytes, count: count))
  return 0
}

protocol FuzzTarget {
  func take(_ input: UnsafeRawBufferPointer)
}

// libFuzzer calls from one thread only.
private nonisolated(unsafe) let target: any FuzzTarget = customTarget()

private func customTarget() -> any FuzzTarget {
  let name = getenv("APNS_EMULATOR_FUZZ_TARGET").map { String(cString: $0) } ?? ""
  switch name {
  case "legacy": return LegacyFuzz()
  case "courier": return CourierFuzz()
  case "certificate": return CertificateFuzz()
  case "http": return HTTPFuzz()
  case "http2": return HTTP2Fuzz()
  case "activation": return ActivationFuzz()
  case "token": return TokenFuzz()
  case "log": return LogFuzz()
  case "capture": return CaptureFuzz()
  case "client": return HTTP2ClientFuzz()
  case "response": return ResponseFuzz()
  case "events": return EventsFuzz()
  case "json": return JSONFuzz()
  case "document": return DocumentFuzz()
  case "der": return DERFuzz()
  case "text": return TextFuzz()
  case "phone": return PhoneFuzz()
  default: fatalError("APNS_EMULATOR_FUZZ_TARGET names no target: \(name)")
  }
}

extension UnsafeRawBufferPointer {
  /// The bytes in pieces whose sizes come from the bytes themselves, so that the fuzzer chooses them too.
  func forEachPiece(_ body: (UnsafeRawBufferPointer) -> Void) {
    var start = 0
    while start < count {
      let size = Swift.min(Int(self[(start * 7 + 3) % count] & 0x3f) + 1, count - start)
      body(UnsafeRawBufferPointer(rebasing: self[start..<start + size]))
      start += size
    }
  }
}
