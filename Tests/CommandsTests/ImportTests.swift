import Foundation
import Testing

/// Which module may import which (`Sources/ARCHITECTURE.md`).
@Suite struct ImportTests {
  /// From the programs down to the ground. A module imports what stands in rows below its own, never beside or above.
  private static let rows = [
    // Programs and users.
    ["apns-emulator", "apns-emulator-bench"],
    ["Commands"],
    ["Scenario", "Drill", "APNSEmulatorTesting", "Benchmark"],
    // House.
    ["Emulator"],
    // Parts.
    ["Courier"],
    ["Node"],
    ["AdviceFeed", "ClusterRouter", "SavedState", "WaysIn"],
    ["Console", "Bridge", "Recorder", "Hooks", "DeviceDriver", "Replay"],
    ["Services", "Phones"],
    // Borders.
    ["Cluster", "ConsoleAnswers"],
    ["Transport", "Credentials", "Storage"],
    ["Platform"],
    // Cores: pure, so that the operating system stands above them.
    [
      "Broker", "ProviderAPI", "Faults", "Phone", "Zones", "Capture", "Advice", "SimulatedDevice",
      "SimulatedProvider",
    ],
    // Wires, words, ground.
    ["LegacyWire", "CourierWire", "NATSWire"],
    ["PropertyList", "PushModel"],
    ["Basics", "Dashboard"],
  ]

  /// Libraries in C, the system's among them, and the modules that own them.
  private static let libraries = [
    "COpenSSL": ["Basics", "Credentials", "Transport"], "CNghttp2": ["Transport"],
    "CLibevent": ["Transport"], "CSQLite": ["Storage"], "CExpat": ["PropertyList"],
    "CArguments": ["Platform"], "CLibrary": ["Platform"],
  ]

  /// What comes with the system or the compiler; who may name it is said below.
  private static let system = ["Glibc", "Musl", "Darwin", "Foundation", "Testing"]

  private static let sources = URL(filePath: #filePath).appending(path: "../../../Sources").standardized

  private struct Import {
    /// In `Sources`.
    let path: String
    let line: String
    let name: String

    var module: String { String(path.prefix { $0 != "/" }) }
  }

  private static func imports() throws -> [Import] {
    let statement =
      /^\s*(?:(?:@\w+(?:\(\w+\))?|public|package|internal|private) +)*import +(?:(?:struct|class|enum|func|let|protocol|var) +)?(\w+)/
    let files = try #require(FileManager.default.enumerator(atPath: sources.path)).compactMap {
      $0 as? String
    }
    return try files.filter { $0.hasSuffix(".swift") }.flatMap { path in
      try String(contentsOf: sources.appending(path: path), encoding: .utf8).split(separator: "\n")
        .compactMap { line in
          line.firstMatch(of: statement).map {
            Import(path: path, line: String(line), name: String($0.output.1))
          }
        }
    }
  }

  @Test("a module imports what stands below it, and a library in C belongs to somebody")
  func layers() throws {
    let row = Dictionary(
      uniqueKeysWithValues: Self.rows.enumerated().flatMap { index, names in names.map { ($0, index) } })
    let imports = try Self.imports().filter { !Self.system.contains($0.name) }
    for each in imports {
      if let owners = Self.libraries[each.name] {
        #expect(owners.contains(each.module), "\(each.path): \(each.line)")
      } else {
        let (own, other) = (try #require(row[each.module]), row[each.name] ?? -1)
        #expect(own < other, "\(each.path): \(each.line)")
      }
    }
    #expect(imports.contains { $0.module == "apns-emulator" && $0.name == "Commands" })
  }

  @Test("every module has its row")
  func rows() throws {
    let folders = try FileManager.default.contentsOfDirectory(atPath: Self.sources.path)
      .filter { !$0.contains(".") && Self.libraries[$0] == nil }
    let named = Self.rows.flatMap { $0 }
    #expect(Set(folders).subtracting(named).isEmpty)
    #expect(Set(named).count == named.count)
  }

  @Test("Emulator is for commands, scenarios, drills, the benchmark and the library for tests")
  func house() throws {
    let users = Set(try Self.imports().filter { $0.name == "Emulator" }.map(\.module))
    #expect(users == ["Commands", "Scenario", "Drill", "Benchmark", "APNSEmulatorTesting"])
  }

  @Test("Only Platform names the C library; Foundation is for users of the library for tests")
  func platform() throws {
    let library = /\bimport\s+(\w+\s+)?(Glibc|Musl|Darwin|Dispatch|Foundation\w*|CoreFoundation)\b/
    let imports = try Self.imports().filter { $0.line.contains(library) }
    for each in imports where each.module != "CLibrary" {
      #expect(each.module == "APNSEmulatorTesting" && each.name == "Foundation", "\(each.path): \(each.line)")
    }
    #expect(imports.contains { $0.path == "CLibrary/CLibrary.swift" && $0.name == "Glibc" })
    let exporters = Set(try Self.imports().filter { $0.line.contains("@_exported") }.map(\.module))
    #expect(exporters == ["APNSEmulatorTesting", "CLibrary"])
  }

  /// What does not import it can't call it, as nobody hands it on; but headers of other libraries bring its names along.
  @Test("Only Platform calls the C library, also where another library in C is imported")
  func calls() throws {
    let call =
      /(^|[^.\w])(errno\b|(malloc|calloc|realloc|free|mem(set|cpy|move|cmp)|str(len|n?cmp|dup|error)|time(gm)?|gmtime_r|getenv|setenv|f(open|close|read|write)|usleep|exit|getpid|recv)\()/
    let libraries = Set(Self.libraries.keys).subtracting(["CLibrary", "CArguments"])
    let paths = Set(try Self.imports().filter { libraries.contains($0.name) }.map(\.path))
    for path in paths {
      let text = try String(contentsOf: Self.sources.appending(path: path), encoding: .utf8)
      for line in text.split(separator: "\n") where !line.contains("//") && !line.contains("func ") {
        #expect(!line.contains(call), "\(path): \(line)")
      }
    }
    #expect("free(piece)".contains(call) && !"HeapMemory.give(piece)".contains(call) && !paths.isEmpty)
  }
}
