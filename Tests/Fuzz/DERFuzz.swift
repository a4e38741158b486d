import Credentials

/// DER as peers send it: the signature of a provider token, and the topics of a certificate.
struct DERFuzz: FuzzTarget {
  func take(_ input: UnsafeRawBufferPointer) {
    let bytes = Array(input)
    if let raw = ECDSASignature.raw(from: bytes) {
      // Both forms stand for the same two numbers.
      precondition(raw.count == 64)
      precondition(ECDSASignature.der(from: raw).flatMap(ECDSASignature.raw) == raw)
    }
    if let der = ECDSASignature.der(from: bytes) { precondition(ECDSASignature.raw(from: der) != nil) }
    if let topics = TopicsExtension.decode(bytes) {
      precondition(TopicsExtension.decode(TopicsExtension.encode(topics)) == topics)
    }
  }
}
