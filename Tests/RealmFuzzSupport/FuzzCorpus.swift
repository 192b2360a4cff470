import Foundation

/// Inputs in a folder of the repository. Each line of `NAME.txt` and each file in the folder `NAME` is an input of the
/// decoder with that name. An input that once went wrong is kept there as a file.
public struct FuzzCorpus: Sendable {
  private let folder: URL

  public init(_ folder: URL) { self.folder = folder }

  /// The inputs of a decoder, in the order of their lines and of the names of their files. There may be none.
  ///
  /// - Throws: an error if a file can't be read.
  public func samples(_ name: String) throws -> [[UInt8]] {
    try lines(name) + files(name)
  }

  private func lines(_ name: String) throws -> [[UInt8]] {
    let file = folder.appendingPathComponent(name + ".txt")
    guard FileManager.default.fileExists(atPath: file.path) else { return [] }
    return try Array(Data(contentsOf: file)).split(separator: 10).map { Array($0) }
  }

  private func files(_ name: String) throws -> [[UInt8]] {
    let folder = folder.appendingPathComponent(name)
    guard FileManager.default.fileExists(atPath: folder.path) else { return [] }
    return try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted().map {
      try Array(Data(contentsOf: folder.appendingPathComponent($0)))
    }
  }
}
