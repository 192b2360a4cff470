/// What can be told of a file without its key, and without opening it as a database.
extension Database {
  /// The random number that a file got when it was made. Another file at the same path has another one, and so has a file that was compacted.
  ///
  /// - Throws: `.notARealmFile` where neither meta page is whole; `.system`.
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

  /// Whether anyone has the file open as a database: this process or another.
  ///
  /// - Throws: `.notARealmFile` for what is no file; `.system`.
  package static func isOpen(path: String) throws(StorageError) -> Bool {
    let file = try OpenedFile(path: path, readOnly: true, calls: NativeSystemCalls())
    defer { file.close() }
    return file.isOpenElsewhere
  }
}
