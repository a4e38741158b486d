import Platform
import TestSupport
import Testing

@Suite("The names in a folder")
struct FolderNamesTests {
  @Test("are all but the folder itself and the one above, however long")
  func names() throws {
    let folder = ScratchFolder()
    let written = ["a", ".hidden", String(repeating: "n", count: 255)]
    for name in written { try folder.write("", to: name) }
    #expect(FolderNames.read(folder.path).sorted() == written.sorted())
    #expect(FolderNames.read(folder.path) { $0.hasPrefix("n") } == [written[2]])
    #expect(FolderNames.read(folder.path, atMost: 2).count == 2)
    #expect(FolderNames.read(folder.file("nowhere")) == [])
  }
}
