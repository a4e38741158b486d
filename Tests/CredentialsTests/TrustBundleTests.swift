import Credentials
import TestSupport
import Testing

@Suite final class TrustBundleTests {
  private let folder = ScratchFolder()
  private var path: String { TrustBundle.path(in: folder.path) }

  init() throws { try folder.write("OURS", to: "ca.pem") }

  private func bundle() throws -> String { String(decoding: try contents(of: path), as: UTF8.self) }

  @Test(
    "Our authority comes first, then those that programs were told of so far; a bundle of ours does not grow")
  func given() throws {
    try folder.write("OTHERS", to: "corporate.pem")
    for given in [folder.file("corporate.pem"), path, path] {
      try TrustBundle.write(folder.file("ca.pem"), in: folder.path, given: given)
      #expect(try bundle() == "OURS\nOTHERS")
    }
  }

  @Test("Where what programs were told of is not there, ours is; without our authority there is no bundle")
  func missing() throws {
    try TrustBundle.write(folder.file("ca.pem"), in: folder.path, given: "/nowhere/ca.pem")
    #expect(try bundle().hasPrefix("OURS\n"))
    #expect(throws: CredentialsError.self) {
      try TrustBundle.write("/nowhere/ca.pem", in: folder.path, given: nil)
    }
  }
}
