import Foundation

package enum Keys {
  package static let first = [UInt8](0..<64)
  package static let second = [UInt8](1..<65)
}

/// Calls `body` with a path to no file, in a folder that is removed afterwards.
package func withTemporaryPath<Result>(_ body: (String) throws -> Result) throws -> Result {
  let folder = FileManager.default.temporaryDirectory.appendingPathComponent("realm-\(UUID().uuidString)")
  try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(at: folder) }
  return try body(folder.appendingPathComponent("test.realm").path)
}
