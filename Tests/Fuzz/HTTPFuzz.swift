import Platform

import Transport

/// The request parser of console and proxy: the same requests, or the same refusal, in any segmentation.
struct HTTPFuzz: FuzzTarget {
  func take(_ input: UnsafeRawBufferPointer) {
    var pieces: [UnsafeRawBufferPointer] = []
    input.forEachPiece { pieces.append($0) }
    for isOfProxy in [false, true] {
      precondition(outcome([input], isOfProxy) == outcome(pieces, isOfProxy))
    }
  }

  private func outcome(_ pieces: [UnsafeRawBufferPointer], _ isOfProxy: Bool) -> [String] {
    var parser = HTTPRequestParser(
      limits: HTTPLimits(), remoteAddress: SocketAddress(host: "127.0.0.1", port: 1), localPort: 2,
      isOfProxy: isOfProxy)
    var outcome: [String] = []
    for piece in pieces {
      parser.receive(piece.span)
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
