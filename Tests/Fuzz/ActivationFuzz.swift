import Basics
import CourierWire

/// Device activation: the form that a device posts, and the page that it reads.
struct ActivationFuzz: FuzzTarget {
  func take(_ input: UnsafeRawBufferPointer) {
    if let request = try? ActivationRequest.parse(formBody: input.span) {
      // What was understood can be said again.
      let again = ActivationRequest.formBody(udid: request.udid, csrPEM: request.csrPEM)
      let parsed = try? ActivationRequest.parse(formBody: again.span)
      precondition(parsed?.udid == request.udid)
    }
    _ = try? ActivationResponse.certificatePEM(in: input.span)
  }
}
