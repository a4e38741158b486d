import Foundation
import Testing

/// `bench` is a program of its own (`Documentation/speed.md`).
@Suite("The benchmark's program")
struct BenchProgramTests {
  @Test("bench is handed on with its words, by whatever link it was called; its status is the answer")
  func beside() throws {
    let program = try BuiltProgram()
    defer { program.remove() }
    let link = program.folder.appending(path: "linked").path()
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: program.path)
    for path in [program.path, link] {
      for words in [["bench", "gateway", "--help"], ["help", "bench", "gateway"]] {
        let help = try ForeignProgram.run(path, words, folder: program.folder)
        #expect(help.status == 0 && help.output.contains("usage: apns-emulator bench gateway [flags]\n"))
        #expect(help.output.contains("  --frames N "), "\(help.output)")
      }
      let wrong = try ForeignProgram.run(path, ["bench", "--run", "3"], folder: program.folder)
      #expect(wrong.status == 2)
      #expect(
        wrong.output
          == "apns-emulator: bench has no flag --run; did you mean --runs? (run apns-emulator bench --help)\n"
      )
    }
  }

  @Test("a variable that nobody reads is told of once, by the program that goes on")
  func strayVariable() throws {
    let program = try BuiltProgram()
    defer { program.remove() }
    // Without a folder for its files nothing is measured.
    let result = try program.run(
      "bench", "gateway", environment: ["APNS_EMULATOR_GATEWAY_PROT": "1", "TMPDIR": "/nowhere"])
    #expect(result.status == 1)
    let told = result.output.split(separator: "\n").filter { $0.contains("APNS_EMULATOR_GATEWAY_PROT") }
    #expect(told.count == 1, "\(result.output)")
  }

  @Test(
    "where it does not lie beside, a sentence says how to get it, which is all of its help",
    arguments: [["bench"], ["bench", "--help"], ["help", "bench", "gateway"]])
  func absent(words: [String]) throws {
    let program = try BuiltProgram()
    defer { program.remove() }
    // Not in the folder for temporary files, which may be of another file system.
    let folder = URL(filePath: try BuiltProgram.products()).appending(path: "commands-tests-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let alone = folder.appending(path: "apns-emulator").path()
    try FileManager.default.linkItem(atPath: program.path, toPath: alone)
    let result = try ForeignProgram.run(alone, words, folder: program.folder)
    #expect(result.status == (words == ["bench"] ? 1 : 0))
    #expect(result.output.contains("make bench"), "\(result.output)")
    #expect(result.output.split(separator: "\n").count == 1, "\(result.output)")
  }

  @Test("flags of the page on speed are its flags")
  func documented() throws {
    let program = try BuiltProgram()
    defer { program.remove() }
    let page = URL(filePath: #filePath).appending(path: "../../../../Documentation/speed.md")
      .standardizedFileURL
    let text = try String(contentsOf: page, encoding: .utf8)
    let lines = text.matches(of: /(?m)^    apns-emulator (bench [a-z]+) (.*)$/)
    #expect(!lines.isEmpty)
    for line in lines {
      let help = try ForeignProgram.run(
        program.path, line.output.1.split(separator: " ").map(String.init) + ["--help"],
        folder: program.folder)
      for flag in line.output.2.matches(of: /--[a-z-]+/) {
        #expect(help.output.contains("  \(flag.output) "), "\(line.output.0)")
      }
    }
  }
}
