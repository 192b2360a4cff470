import RealmStorage
import RealmTestSupport

/// Files that no engine wrote. Each of them must be refused with a typed error and left as it is.
struct Garbage {
  private static let magic: [UInt8] = [0x89, 0x52, 0x4c, 0x4d, 0x0d, 0x0a, 0x1a, 0x0a]

  private struct File {
    let name: String
    let bytes: [UInt8]

    var isOriginal: Bool { bytes.count >= 20 && bytes[16..<20].elementsEqual("T-DB".utf8) }

    /// Whether the file starts like a meta page in one of the two places.
    var looksLikeOurs: Bool {
      [0, FilePlace.page].contains { start in
        bytes.count >= start + 16 && bytes[start..<start + 8].elementsEqual(Garbage.magic)
      }
    }
  }

  func run(_ part: Part) throws {
    let storage = try ByteStorage()
    let keys: [[UInt8]?] = [nil, Keys.first]
    for file in files(part) {
      for key in keys {
        let place = "\(file.name) of \(file.bytes.count) bytes, \(key == nil ? "without" : "with") a key"
        try part.state(place) {
          storage.fill(file.bytes)
          try expectRefusal(of: file) { try Database(storage: storage, options: Sample.options(key)) }
          guard storage.bytes == file.bytes else {
            throw Violation("wrong: the file was refused and changed")
          }
        }
        // An empty file on the disk becomes a database.
        if file.bytes.isEmpty { continue }
        try part.state(place + ", a file") {
          try withFile(file.bytes[...]) { path in
            let before = try FolderListing(around: path)
            try expectRefusal(of: file) { try Database(path: path, options: Sample.options(key)) }
            guard try FolderListing(around: path) == before else {
              throw Violation("wrong: the file was refused, and it or what is beside it changed")
            }
          }
        }
      }
    }
  }

  private func expectRefusal(of file: File, _ open: () throws -> Database) throws {
    do {
      _ = try open()
      throw Violation("wrong: it opens")
    } catch let error as StorageError {
      switch error {
      case _ where file.looksLikeOurs: return
      case .emptyFile where file.bytes.isEmpty: return
      case .originalRealmFile where file.isOriginal: return
      case .notARealmFile where !file.isOriginal && !file.bytes.isEmpty: return
      default: throw Violation("a file that is not ours is refused with \(error)")
      }
    }
  }

  // MARK: - Files

  private func files(_ part: Part) -> [File] {
    var generator = part.generator(0)
    var lengths = [
      0, 1, 7, 8, 9, 15, 16, 17, 100, 511, 512, 513, 4095, 4096, 4097, 4112, 8191, 8192, 8193, 12_288,
    ]
    for _ in 0..<(part.isQuick ? 5 : 200) { lengths.append(generator.below(50_000)) }
    var files: [File] = []
    for length in lengths {
      files += foreign(length, &generator)
      files += similar(length, &generator)
    }
    return files
  }

  private func foreign(_ length: Int, _ generator: inout SeededGenerator) -> [File] {
    let picture: [UInt8] = [0xff, 0xd8, 0xff, 0xe0, 0x00, 0x10, 0x4a, 0x46, 0x49, 0x46, 0x00, 0x01]
    return [
      File(name: "random bytes", bytes: generator.bytes(length)),
      File(name: "zeros", bytes: [UInt8](repeating: 0, count: length)),
      File(name: "ones", bytes: [UInt8](repeating: 0xff, count: length)),
      File(name: "a text", bytes: Self.repeated("A text, line by line.\r\n", length)),
      File(name: "a database of another kind", bytes: Self.repeated("SQLite format 3\0", length)),
      File(name: "a picture", bytes: Self.put(picture, at: [0], in: generator.bytes(length))),
      File(
        name: "the original's", bytes: Self.put(Array("T-DB".utf8), at: [16], in: generator.bytes(length))),
    ]
  }

  private func similar(_ length: Int, _ generator: inout SeededGenerator) -> [File] {
    let head: [UInt8] = Self.magic + [1, 0, 0, 0, 0, 0x10, 0, 0]
    let second = FilePlace.page
    return [
      File(
        name: "random bytes with a magic", bytes: Self.put(Self.magic, at: [0], in: generator.bytes(length))),
      File(
        name: "random bytes with two",
        bytes: Self.put(Self.magic, at: [0, second], in: generator.bytes(length))),
      File(
        name: "random bytes with a later",
        bytes: Self.put(Self.magic, at: [second], in: generator.bytes(length))),
      File(
        name: "random bytes with our format",
        bytes: Self.put(head, at: [0, second], in: generator.bytes(length))),
      File(
        name: "zeros with our format",
        bytes: Self.put(head, at: [0, second], in: Self.repeated("\0", length))),
    ]
  }

  private static func repeated(_ text: String, _ length: Int) -> [UInt8] {
    let pattern = Array(text.utf8)
    return (0..<length).map { pattern[$0 % pattern.count] }
  }

  private static func put(_ header: [UInt8], at starts: [Int], in bytes: [UInt8]) -> [UInt8] {
    var bytes = bytes
    for start in starts {
      for (index, byte) in header.enumerated() where start + index < bytes.count {
        bytes[start + index] = byte
      }
    }
    return bytes
  }
}
