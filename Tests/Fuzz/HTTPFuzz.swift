import Platform

import Transport

/// The console's request parser: the same requests, or the same refusal, in any segmentation.
struct HTTPFuzz: FuzzTarget {
  func take(_ input: UnsafeRawBufferPointer) {
    var pieces: [UnsafeRawBufferPointer] = []
    input.forEachPiece { pieces.append($0) }
    precondition(outcome([input]) == outcome(pieces))
  }

  private func outcome(_ pieces: [UnsafeRawBufferPointer]) -> [String] {
    var parser = HTTPRequestParser(
      limits: HTTPLimits(), remoteAddress: SocketAddress(host: "127.0.0.1", port: 1), localPort: 2)
    var outcome: [String] = []
    for piece in pieces {
      parser.receive(piece)
      do {
        while let event = try parser.next() {
          guard case .request(let request) = event else { continue }
          outcome.append(
            "\(request.method) \(request.path) \(request.query) \(request.fields) \(request.body)")
        }
      } catch {
        return outcome + ["\(error.status)"]
      }
    }
    return outcome
  }
}
