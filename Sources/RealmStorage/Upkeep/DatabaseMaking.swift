/// Databases that appear at once and whole.
extension Database {
  /// Makes a database beside a path, and lets it appear there when `body` has filled it: at once and whole, or not at all.
  ///
  /// - Parameters:
  ///   - origin: the path of the file whose mode it gets.
  ///   - options: it is made with these, and closed behind `body`.
  ///   - source: a version that it begins as a copy of; nil for an empty database.
  /// - Throws: `.system` with `EEXIST` where there is a file at `path`; what copying, opening, committing and `body` throw. No file is left then.
  package static func make(
    at path: String, like origin: String, options: Options, copying source: Snapshot? = nil,
    _ body: (Database) throws(StorageError) -> Void
  ) throws(StorageError) {
    guard !FileStorage.exists(path) else { throw FileStorage.alreadyThere(path) }
    let file = FileReplacement(of: path, word: "copy")
    defer { file.remove() }
    var mode: UInt32?
    if let source {
      if let feature = try source.database.unknownToWrite(source).first {
        throw .unknownFeature(feature, path: source.database.path)
      }
      mode = try DatabaseCopy.build(source, file, options)
    }
    let made = try filled(file, options, body)
    // Behind a copy the mode is that of a file which only its owner may use.
    try file.place(mode: numericCast(mode ?? made), like: origin)
  }

  /// Removes the files of all databases that this process is making, copying or compacting. For a program that ends at once, as by
  /// a signal: such files may be large, and may hold without encryption what the original encrypts.
  package static func removeUnfinishedFiles() { FileReplacement.removeUnfinished() }

  /// Opens a database, has it filled, and closes it; answers the mode that it would have.
  private static func filled(
    _ file: FileReplacement, _ options: Options, _ body: (Database) throws(StorageError) -> Void
  ) throws(StorageError) -> UInt32 {
    let database = try Database(path: file.path, options: options)
    defer { database.close() }
    let mode = try file.restrict()
    try body(database)
    try database.flush()
    return UInt32(mode)
  }

  /// Makes a copy of the bytes of a file appear at `path`, where there is none, if it is a database that opens. Answers false
  /// where there is a file already.
  ///
  /// - Parameters:
  ///   - copy: the name beside `path` under which the copy is made; nothing is there afterwards.
  ///   - history: what the database is to be.
  @discardableResult
  package static func placeCopy(
    of source: String, made copy: String, at path: String, encryptionKey: [UInt8]?,
    history: DatabaseOptions.History = .any
  ) throws(StorageError) -> Bool {
    try FileCopy.make(copy, of: source)
    defer {
      FileRemoval.removeFile(copy)
      _ = try? FileRemoval.removeCompanions(of: copy)
    }
    var options = Options.reading(encryptionKey)
    options.history = history
    try Database(path: copy, options: options).close()
    return try FileStorage.place(copy, at: path)
  }
}
