/// Facts of a file that need no key, and for which the file is not opened as a database.
extension Database {
  /// The random number that a file got when it was made. Another file at the same path has another number, and so has a
  /// file after a compaction.
  ///
  /// - Throws: `.notARealmFile` if neither meta page is sound; `.system`.
  package static func fileID(path: String) throws(StorageError) -> [UInt8] {
    let file = try OpenedFile(path: path, readOnly: true, calls: NativeSystemCalls())
    defer { file.close() }
    let found = try file.readMeta { () throws(StorageError) -> (pages: [[UInt8]], isWhole: Bool) in
      var found: [[UInt8]] = []
      for page in 0..<2 {
        let bytes = try file.read(FilePlace.page, at: UInt64(page * FilePlace.page))
        if case .sound(let meta) = MetaPage.read(bytes) { found.append(meta.constants.fileID) }
      }
      return (found, found.count == 2)
    }
    guard let first = found.first else { throw .notARealmFile(path: path) }
    return first
  }

  /// True if this process or another one has the file open as a database.
  ///
  /// - Throws: `.notARealmFile` if the path leads to no regular file; `.system`.
  package static func isOpen(path: String) throws(StorageError) -> Bool {
    let file = try OpenedFile(path: path, readOnly: true, calls: NativeSystemCalls())
    defer { file.close() }
    return file.isOpenElsewhere
  }
}
