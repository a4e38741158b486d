import CLibrary
import Credentials
import Platform
import Testing

import Emulator

@Suite struct IssuedTopicsTests {
  @Test("The folder is read again when it has changed, and only then")
  func reading() throws {
    let home = try TemporaryFolder()
    let certs = CertsFolder(path: home.path)
    try #require(mkdir(certs.pushFolder, 0o700) == 0)
    let topics = IssuedTopics(certs)
    try add("com.example.b", to: certs, changed: 1_700_000_000)
    try add("com.example.a", to: certs, changed: 1_700_000_000)
    #expect(topics.all().map(\.name) == ["com.example.a", "com.example.b"])
    // A folder that looks as before is not read: the new name is not seen.
    try #require(
      rename("\(certs.pushFolder)/com.example.a.pem", "\(certs.pushFolder)/com.example.c.pem") == 0)
    try setTime(of: certs, 1_700_000_000)
    #expect(topics.all().map(\.name) == ["com.example.a", "com.example.b"])
    try setTime(of: certs, 1_700_000_001)
    #expect(topics.all().map(\.name) == ["com.example.b", "com.example.c"])
  }

  /// Makes the file of a certificate, and the folder one that was changed at that time.
  private func add(_ topic: String, to certs: CertsFolder, changed seconds: Int) throws {
    try TextFile.write("\(certs.pushFolder)/\(topic).pem", [])
    try setTime(of: certs, seconds)
  }

  private func setTime(of certs: CertsFolder, _ seconds: Int) throws {
    let time = timespec(tv_sec: seconds, tv_nsec: 0)
    try #require(utimensat(AT_FDCWD, certs.pushFolder, [time, time], 0) == 0)
  }
}
