import Foundation
import Testing

import Commands

@Suite("The dashboard from a folder")
struct DashboardFolderTests {
  private let program: BuiltProgram

  /// The folder of sources, copied into that of the program as `web`.
  init() throws {
    program = try BuiltProgram()
    let web = URL(filePath: #filePath).appending(path: "../../../../Sources/Dashboard/Web")
      .standardizedFileURL
    try FileManager.default.copyItem(at: web, to: program.folder.appending(path: "web"))
  }

  @Test("its files are read at each request, and no others", .timeLimit(.minutes(15)))
  func read() throws {
    defer { program.remove() }
    let result = try program.exec(
      ["--dashboard", "web"],
      script: """
        get() { curl -s --path-as-is -w ' %{http_code}\\n' http://$APNS_EMULATOR_CONSOLE$1; }
        echo '/* first */' > web/shell.js; get /dashboard/shell.js
        echo '/* second */' > web/shell.js; get /dashboard/shell.js
        echo '<title>mine</title>' > web/index.html; get / | tail -2
        echo 'secret' > web/mine.js; get /dashboard/mine.js
        echo 'secret' > other; get /dashboard/../other; get /dashboard/..%2Fother; get /dashboard/web%2F..%2F..%2Fother
        rm web/shell.js; get /dashboard/shell.js
        mkfifo web/shell.js; get /dashboard/shell.js
        rm web/shell.js; truncate -s 1048577 web/shell.js; get /dashboard/shell.js
        """)
    #expect(result.status == 0, "\(result.output)")
    let output = result.output
    #expect(
      output.contains("/* first */\n 200\n/* second */\n 200\n<title>mine</title>\n 200\n"), "\(output)")
    #expect(!output.contains("secret"))
    #expect(output.contains("can't read web/shell.js: No such file or directory"))
    #expect(output.contains("can't read web/shell.js: expected a plain file, got a named pipe"))
    #expect(output.contains("can't read web/shell.js: it is larger than 1048576 bytes"))
    #expect(output.split(separator: "\n").filter { $0.hasSuffix(" 404") }.count == 7, "\(output)")
  }

  @Test(
    "a folder that lacks a file is told of at once",
    arguments: [("web", "web/store.js"), ("nothing", "nothing/"), ("certs", "certs/")])
  func incomplete(folder: String, named: String) throws {
    defer { program.remove() }
    try FileManager.default.removeItem(at: program.folder.appending(path: "web/store.js"))
    let result = try program.run("exec", "--dashboard", folder, "--", "true")
    #expect(result.status == 1)
    #expect(
      result.output.hasPrefix(
        "apns-emulator: --dashboard expects a folder with the files of Sources/Dashboard/Web: can't read \(named)"
      ))
    #expect(result.output.hasSuffix(": No such file or directory\n"), "\(result.output)")
  }
}
