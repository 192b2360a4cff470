import Foundation
import RealmTestSupport

/// Calls `body` with the path of a file with these bytes. The file and everything beside it is removed afterwards.
func withFile<Result>(_ bytes: ArraySlice<UInt8>, _ body: (String) throws -> Result) throws -> Result {
  try withTemporaryPath { path in
    try Data(bytes).write(to: URL(fileURLWithPath: path))
    return try body(path)
  }
}

/// All bytes of a file; nil if there is no such file.
func bytes(ofFile path: String) -> [UInt8]? {
  guard let data = FileManager.default.contents(atPath: path) else { return nil }
  return [UInt8](data)
}
