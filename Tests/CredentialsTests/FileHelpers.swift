import Foundation
import Testing

/// Permission bits of a file or folder.
func permissions(of path: String) throws -> Int {
  let attributes = try FileManager.default.attributesOfItem(atPath: path)
  return try #require(attributes[.posixPermissions] as? Int)
}

func contents(of path: String) throws -> [UInt8] {
  Array(try Data(contentsOf: URL(filePath: path)))
}

func write(_ bytes: [UInt8], to path: String) throws {
  try Data(bytes).write(to: URL(filePath: path))
}

func move(_ name: String, to other: String, in folder: String) throws {
  try FileManager.default.moveItem(atPath: "\(folder)/\(name)", toPath: "\(folder)/\(other)")
}

/// Makes a file or folder look as if it had changed that long before the run began, in seconds.
func setModified(_ seconds: Double, _ path: String) throws {
  let date = begin.addingTimeInterval(-seconds)
  try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: path)
}

private let begin = Date()
