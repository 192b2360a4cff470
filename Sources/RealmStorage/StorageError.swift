/// An error of the engine: it could not open, read or write a database.
///
/// Each case has the facts that a program needs to react; `description` tells them in words, with the remedy. No error has a key
/// or a value that is stored in a database. A `path` is the path of the database's file.
public indirect enum StorageError: Error, Sendable, Equatable {
  /// The file has no meta page of this format. If `mayBeOriginal` is true, it may be an encrypted file of the original Realm,
  /// which looks like random bytes.
  case notARealmFile(path: String, mayBeOriginal: Bool = false)
  /// The file was written by the original Realm, in its own format with this number; 0 if the header of the file has no number.
  case originalRealmFile(format: UInt8, path: String)
  /// The file has a format number that this engine does not read.
  case unsupportedFormat(found: UInt32, supported: UInt32, path: String)
  /// The file is older than format 1 and was written in another draft of it than the last one. This engine reads only the last
  /// draft.
  case unsupportedDraft(found: UInt32, supported: UInt32, path: String)
  /// The file uses a feature that this version of the library does not know, and that it must know to read or to write the file.
  case unknownFeature(Feature, path: String)
  /// The file has 0 bytes and was opened for reading only, so that no database could be made in it.
  case emptyFile(path: String)
  /// The file is shorter than its newest version needs. Both numbers are bytes.
  case truncated(path: String, length: UInt64, needed: UInt64)
  /// The file is encrypted with another key.
  case wrongKey(path: String)
  /// The file is encrypted, and no key was given.
  case keyMissing(path: String)
  /// A key was given for a file that is not encrypted.
  case keyForPlainFile(path: String)
  /// The encryption key has this number of bytes, and not 64.
  case invalidKeyLength(Int)
  /// The file is damaged: its content breaks the format.
  case corrupted(Corruption, path: String)
  /// A system call failed with `errno`, at `offset` of the file if that is not nil.
  case system(call: SystemCall, errno: CInt, path: String, offset: UInt64?)
  /// An earlier write of a meta page or sync of the file failed, so that the outcome of the commits since then is unknown. Close
  /// the database and open it again.
  case poisoned(path: String)
  /// The snapshot can't be read any more, because a failed sync may have lost its version.
  case snapshotExpired(path: String)
  /// The named version was ended: named versions needed more space than `DatabaseOptions.namedVersionLimit` allows, and it was
  /// the oldest.
  case versionEnded(name: String, version: UInt64, path: String)
  /// The file is open and can't be shared or removed. When opening, another process has it open and the data that processes share
  /// can't be found: the folder `.management` was deleted or replaced, or that process runs a version of the library that shares
  /// in another way. When removing, this process or another one has it open.
  case inUse(path: String)
  /// The data that this handle shares with other processes is not the one that new processes find: the folder `.management` was
  /// deleted or replaced.
  case controlReplaced(path: String)
  /// The database was closed.
  case closed(path: String)
  /// This process was forked from the one that opened the database. It may only read the snapshots that it inherited.
  case forked(path: String)
  /// A write was requested, and the database is opened for reading only.
  case readOnly(path: String)
  /// The file is on a network or user-space file system, on which memory mappings are not coherent.
  case remoteFileSystem(path: String)
  /// Another row has the same value in a unique column.
  case duplicateKey(table: String, column: String, path: String)
  /// A recorded change does not fit the database that it was applied to. The transaction can't be committed.
  case changeDoesNotFit(ChangeMismatch, path: String)
  /// The schema was to be changed, other than by adding tables or columns, in a transaction with a recorder. Nothing was changed.
  case schemaChangeWhileRecording(table: String, path: String)
  /// Elements of a list with element ids were to be inserted or moved, in a transaction whose recorder gives no ids. Nothing was
  /// changed.
  case elementIDsMissing(table: String, column: String, path: String)
  /// The elements of a table's lists were to get ids, and the table has rows. Nothing was changed.
  case tableNotEmpty(table: String, path: String)
  /// The file is synced and was opened as one that is not, or the reverse; see `DatabaseOptions.history`.
  case otherHistory(isSynced: Bool, path: String)
  /// The operation is not allowed in a synced file. Nothing was changed, or the transaction can't be committed.
  case notSyncable(SyncProblem, table: String, column: String?, path: String)
  /// An instruction of a changeset does not fit the database. The transaction can't be committed.
  case instructionDoesNotFit(InstructionProblem, table: String, column: String?, path: String)
  /// The schemas of two versions differ in another way than by added tables and columns: a table or column was removed, renamed
  /// or changed. So the difference can't be expressed as changes of rows.
  case schemaChanged(table: String, column: String?, path: String)
  /// A search was cancelled by its `QueryBounds`.
  case queryCancelled(path: String)
  /// A search had not ended at the deadline of its `QueryBounds`.
  case queryDeadline(path: String)
  /// The operation would exceed a limit of the format. Nothing was written.
  case limitExceeded(Limit, path: String)
}

/// The system call that failed, in a `StorageError.system`.
public enum SystemCall: String, Sendable {
  /// The calls that open, read, write, sync, shorten, map, lock, link, rename and remove a file, or read its attributes.
  case open, read, write, sync, truncate, map, lock, link, rename, remove, stat
  /// The call that makes a directory.
  case makeDirectory = "make directory"
}

/// Why an operation is not allowed in a synced file. The raw values are texts for messages.
public enum SyncProblem: String, Sendable {
  /// A table that is not embedded has no primary key.
  case noPrimaryKey = "its objects need a primary key"
  /// The type of the primary key is not one of whole number, text, UUID or object id.
  case primaryKeyType = "the type of a primary key is integer, string, UUID or object id"
  /// Embedded objects are nested deeper than 256 levels.
  case tooDeep = "embedded objects can be nested at most 256 levels deep"
  /// The primary key of a row was to be changed.
  case primaryKeyChanged = "the primary key of an object can't be changed: make another object"
  /// A table or column was to be removed, renamed or changed.
  case schemaNotAdded = "tables and columns can only be added: add another one"
  /// Recorded changes, or links by primary key, were to be written into the file without the rules of merging.
  case appliedChange = "the change would bypass the rules of merging: make it in an ordinary transaction"
}

/// Why an instruction of a changeset can't be carried out. The raw values are texts for messages.
public enum InstructionProblem: String, Sendable {
  /// The table does not exist.
  case noTable = "the table does not exist"
  /// The table has no such property.
  case noProperty = "there is no such property"
  /// The object does not exist.
  case noObject = "the object does not exist"
  /// The embedded object does not exist.
  case noEmbedded = "the embedded object does not exist"
  /// The list has no element with the id.
  case noElement = "the list has no element with that id"
  /// The list has an element with the id already.
  case elementExists = "the list already has an element with that id"
  /// The value does not fit the property.
  case wrongValue = "the value does not fit the property"
  /// The property is not of the kind that the instruction changes, for example not a list.
  case wrongKind = "the property is not of the kind that the instruction changes"
  /// The place to change is nested in too many objects and collections.
  case tooDeep = "the place is nested in too many objects and collections"
}

/// A limit of the format that an operation would exceed.
public enum Limit: Sendable, Equatable {
  /// A key of an ordered tree has this number of bytes, and `maximum` are allowed.
  case keyLength(Int, maximum: Int)
  /// A value has this number of bytes, and `maximum`, which is 2^40, are allowed.
  case valueLength(Int, maximum: Int)
  /// A transaction has more than 64 GiB of changes, or a database in memory has more than 64 GiB.
  case memory
  /// The file would be longer than 2^47 bytes.
  case fileSize
  /// All 2^62 row keys of a table have been given.
  case rows
  /// All 2^62 ids of the lists and maps in a table's mixed values have been given.
  case nestedCollections
  /// All 2^32 table ids of a database have been given.
  case tables
  /// A table would have this number of columns, and `maximum` are allowed.
  case columns(Int, maximum: Int)
  /// A value in a synced file is longer than `maximum` bytes.
  case syncedValueLength(table: String, column: String, maximum: Int)
  /// All 2^32 ids of list elements of a synced file have been given.
  case elementIDs
  /// All 65,535 column ids of a table have been given. The ids of removed columns are not given again.
  case columnIDs
  /// All 65,535 index ids of a table have been given. The ids of removed indexes are not given again.
  case indexIDs
  /// All 2^48 version numbers have been given.
  case versions
  /// There are `maximum` named versions already.
  case namedVersions(maximum: Int)
  /// 256 handles have the database open already.
  case processes
  /// Processes hold 32,768 versions for readers already.
  case readers
  /// The name of a tree, table, column or version has this number of bytes, and 1 to `maximum` are allowed.
  case nameLength(Int, maximum: Int)
}

extension StorageError {
  /// A feature of a file that this version of the library does not know.
  public struct Feature: Sendable, Hashable {
    /// The operation that needs to know a feature.
    public enum Need: String, Sendable {
      /// The file can neither be read nor written without knowing the feature.
      case read
      /// The file can be read, but not written, without knowing the feature.
      case write
    }

    /// The part of the database that uses the feature, for example "table Person", "column Person.name" or "the catalogue".
    public let owner: String
    /// The name of the feature in that part, for example "attribute 9", "type 16" or "slot sync".
    public let name: String
    /// The operation that needs to know the feature.
    public let need: Need

    package init(_ name: String, of owner: String, need: Need) {
      self.name = name
      self.owner = owner
      self.need = need
    }
  }
}

extension StorageError.Feature: CustomStringConvertible {
  /// The feature and its owner, in words.
  public var description: String { "\(name) of \(owner)" }
}

/// Damage that was found in a file: which rule of the format is broken, and where.
public struct Corruption: Sendable, Equatable {
  /// The rule of the format that is broken. The raw values are texts for messages.
  public enum Finding: String, Sendable {
    /// The checksum of a node does not match its content.
    case checksum = "the checksum does not match"
    /// The authentication tag of an encrypted node does not match.
    case authentication = "the authentication tag does not match"
    /// The header of a node does not repeat the node's ref.
    case header = "the node's header does not repeat its ref"
    /// A ref leads outside of the file.
    case place = "a ref points outside of the file"
    /// A child node is younger than its parent, or is not below it.
    case order = "a child is younger than its parent, or not below it"
    /// The content of a node breaks its layout.
    case structure = "the node's content breaks its layout"
    /// Two nodes use the same bytes.
    case overlap = "two nodes use the same bytes"
    /// A count of rows is wrong.
    case rows = "a count of rows does not match"
    /// The keys of a tree are not in order.
    case keyOrder = "keys are not in order"
    /// An index does not agree with the rows.
    case index = "an index does not agree with the rows"
    /// Links do not agree with the index of links.
    case link = "links do not agree with the index of links"
    /// A cell has a code that the dictionary of its column does not have.
    case code = "a cell has a code that the dictionary of its column does not have"
    /// Both meta pages are damaged.
    case metaPages = "both meta pages are damaged"
    /// A meta page is damaged.
    case metaPage = "a meta page is damaged"
    /// The disk can't read the bytes.
    case unreadable = "the disk can't read the bytes"
  }
  /// The rule that is broken.
  public let finding: Finding
  /// The offset of the node in the file, in bytes; nil for a node that was never written.
  public let offset: UInt64?
  /// The length of the node's content, in bytes.
  public let length: Int
  /// The number of the version that wrote the node, according to its ref.
  public let birth: UInt64
  /// The kind of the node: a name in FORMAT.md's list of node kinds.
  public let nodeKind: String

  package init(_ finding: Finding, offset: UInt64?, length: Int, birth: UInt64, nodeKind: String) {
    self.finding = finding
    self.offset = offset
    self.length = length
    self.birth = birth
    self.nodeKind = nodeKind
  }
}

extension Corruption: CustomStringConvertible {
  /// The damage in words: the kind of the node, its place and the finding.
  public var description: String {
    let place = offset.map { "at offset \($0)" } ?? "in memory"
    return "\(nodeKind) \(place) (\(length) bytes, written by version \(birth)): \(finding.rawValue)"
  }
}

extension StorageError: CustomStringConvertible {
  private static let wayFromOriginal =
    "export it with a program that uses the original Realm, for example to JSON, and create the objects again from that."

  /// The error in words, with the path and, for most errors, what to do about it.
  public var description: String {
    switch self {
    case .notARealmFile(let path, false):
      "\(path) is not a realm file. Give the path of a .realm file, or of a file that does not exist yet."
    case .notARealmFile(let path, true):
      "\(path) is not a realm file, or it is an encrypted file of the original Realm, which looks like random bytes and "
        + "which this library can't read. Give the path of a .realm file of this library, or of a file that does not exist "
        + "yet. To keep the content of an original file, \(Self.wayFromOriginal) The file was not touched."
    case .originalRealmFile(let format, let path):
      "\(path) is a file of the original Realm, \(format == 0 ? "without a format number" : "in its format \(format)"). "
        + "This library can't read it. To keep its content, \(Self.wayFromOriginal) "
        + "The file was not touched."
    case .unsupportedFormat(let found, let supported, let path):
      "\(path) has file format \(found), and this library reads format \(supported). Use a newer version of this library. If "
        + "no version reads that format, the file is damaged. The file was not touched."
    case .unsupportedDraft(let found, let supported, let path):
      "\(path) was written in draft \(found) of the file format. This library reads format \(MetaPage.format) and the last "
        + "draft before it, which is draft \(supported). Export the content with the version of this library that wrote the "
        + "file, for example with `realm dump --json`, and build a new file from that. The file was not touched."
    case .unknownFeature(let feature, let path):
      "\(path) uses what this version of the library does not know and must know to \(feature.need.rawValue) it: "
        + "\(feature). Use a newer version of this library. The content of the file was not changed."
    case .emptyFile(let path):
      "\(path) is empty: it has 0 bytes, and no database can be made in it while it is opened for reading only. Open it once for "
        + "writing."
    case .truncated(let path, let length, let needed):
      "\(path) has \(length) bytes, but its newest version needs \(needed): the file was cut short. "
        + "Restore it from a copy."
    case .wrongKey(let path):
      "\(path) is encrypted with another key. The file was not touched."
    case .keyMissing(let path):
      "\(path) is encrypted; give its 64-byte key."
    case .keyForPlainFile(let path):
      "\(path) is not encrypted; open it without a key."
    case .invalidKeyLength(let length):
      "An encryption key has 64 bytes; this one has \(length)."
    case .corrupted(let corruption, let path):
      "\(path) is damaged: \(corruption). Run `realm check` on it, and restore it from a copy."
    case .system(let call, let errno, let path, let offset):
      "The system refused to \(call.rawValue) \(path)\(offset.map { " at offset \($0)" } ?? ""): "
        + "\(systemMessage(errno)) (error \(errno))."
    case .poisoned(let path):
      "An earlier write to \(path) failed, and it is not known what of it is on the disk. "
        + "Close the database and open it again, which recovers the last durable version."
    case .snapshotExpired(let path):
      "A sync of \(path) failed, and the version of this snapshot may not be on the disk. "
        + "Close the database, open it again and take a new snapshot."
    case .versionEnded(let name, let version, let path):
      "Version \(version) of \(path), which was kept by the name \(name), was given up: named versions needed more space than is "
        + "allowed. Read the newest version in full, and keep it by that name. Keep versions for a shorter time, or allow more "
        + "space by DatabaseOptions.namedVersionLimit."
    case .inUse(let path):
      "\(path) is open in a process with which this one can't share it: its .management folder was deleted or replaced, "
        + "or that process runs another version of this library. Close it in that process first."
    case .controlReplaced(let path):
      "\(path).management was deleted or replaced while the database was open. Close the database and open it again."
    case .closed(let path):
      "The database \(path) was closed. Open it again."
    case .forked(let path):
      "\(path) was opened before this process was forked. The child process may only read the snapshots that it inherited. "
        + "Open the database in the child."
    case .readOnly(let path):
      "\(path) was opened for reading only."
    case .remoteFileSystem(let path):
      "\(path) is on a network or user-space file system, where a memory-mapped database is not safe. "
        + "Move it to a local disk, or open it for reading only."
    case .duplicateKey(let table, let column, let path):
      "Another row of table \(table) in \(path) has the same value of \(column), which must be unique. "
        + "Change that row, or use another value."
    case .changeDoesNotFit(let mismatch, let path):
      "A recorded change does not fit the version of \(path) that it was applied to: \(mismatch). Apply changes to the version "
        + "on which they were recorded, each of them once and in their order. The transaction can't be committed."
    case .schemaChangeWhileRecording(let table, let path):
      "The transaction on \(path) has a recorder, so the schema of table \(table) can only get new columns. Make other "
        + "changes of the schema in a transaction without a recorder."
    case .elementIDsMissing(let table, let column, let path):
      "The elements of \(table).\(column) in \(path) have ids, and the transaction has no recorder that gives ids. Attach a "
        + "recorder whose elementIDs(_:) returns ids before you insert or move elements."
    case .tableNotEmpty(let table, let path):
      "Table \(table) in \(path) has rows, and the elements of their lists have no ids. Request ids while the table is empty, or "
        + "copy the rows to a new table that has ids."
    case .otherHistory(true, let path):
      "\(path) is synced: all changes of it are recorded for other devices. Open it with the option history = .synced."
    case .otherHistory(false, let path):
      "\(path) is not synced, and its changes were not recorded. Open it with the option history = .local, or make a new file "
        + "and copy the objects to it."
    case .notSyncable(let problem, let table, let column, let path):
      "\(path) is synced, and that does not allow this for \(column.map { "\(table).\($0)" } ?? table): \(problem.rawValue)."
    case .instructionDoesNotFit(let problem, let table, let column, let path):
      "A changeset can't be applied to \(path) at \(column.map { "\(table).\($0)" } ?? table): \(problem.rawValue)."
    case .schemaChanged(let table, let column, let path):
      "The difference between two versions of \(path) can't be expressed as changes of rows: "
        + (column.map { "column \($0) of table \(table)" } ?? "table \(table)")
        + " was removed, renamed or changed. Read the newer version in full."
    case .queryCancelled(let path): "A search in \(path) was cancelled."
    case .queryDeadline(let path):
      "A search in \(path) did not end before its deadline. Give it more time, or search for fewer rows."
    case .limitExceeded(let limit, let path):
      "\(path): \(limit.description)"
    }
  }
}

extension Limit: CustomStringConvertible {
  /// The limit in words.
  public var description: String {
    switch self {
    case .keyLength(let length, let maximum): "a key of \(length) bytes is longer than \(maximum)."
    case .valueLength(let length, let maximum): "a value of \(length) bytes is longer than \(maximum)."
    case .memory:
      "a transaction, or a database in memory, would have more than 64 GiB; commit in smaller parts."
    case .fileSize: "the file would be longer than 2^47 bytes."
    case .rows: "all 2^62 row keys of a table have been used."
    case .nestedCollections: "all 2^62 ids of nested lists and maps of a table have been used."
    case .tables: "all 2^32 table ids have been used."
    case .columns(let count, let maximum):
      "a table has at most \(maximum) columns; this one would have \(count)."
    case .columnIDs:
      "all 65,535 column ids of a table have been used, including those of removed columns; make another table."
    case .syncedValueLength(let table, let column, let maximum):
      "a value of \(table).\(column) is longer than \(maximum) bytes, and can't be synced; store it in parts."
    case .elementIDs: "all 2^32 ids of list elements have been used."
    case .indexIDs: "all 65,535 index ids of a table have been used; make another table."
    case .processes: "256 handles have the file open already; close some."
    case .readers: "processes hold 32,768 versions for readers already; release snapshots."
    case .versions:
      "all 2^48 version numbers have been used; build a new file from what `realm export` writes."
    case .namedVersions(let maximum):
      "\(maximum) versions are kept by name already; drop some with Database.dropVersion(named:)."
    case .nameLength(let length, let maximum): "a name has 1 to \(maximum) bytes; this one has \(length)."
    }
  }
}

/// Why a recorded change could not be applied.
public struct ChangeMismatch: Sendable, Equatable {
  /// The reason. The raw values are texts for messages.
  public enum Reason: String, Sendable, CaseIterable {
    /// No table has the id.
    case noTable = "no table has that id"
    /// A table with the id or name exists already, or existed.
    case tableExists = "a table with that id or name exists already, or existed"
    /// The table has no column with the id.
    case noColumn = "the table has no column with that id"
    /// A column with the id or name exists already, or existed.
    case columnExists = "a column with that id or name exists already, or existed"
    /// The schema of the table or column is not valid.
    case invalidSchema = "the schema of the table or column is not valid"
    /// No row has the key.
    case noRow = "no row has that key"
    /// A row with the key exists already.
    case rowExists = "a row with that key exists already"
    /// The key of the row is not valid, or far greater than the last one that was given.
    case rowKey = "the key of the row is not valid, or far greater than the last one that was given"
    /// The number of values does not match the columns or the rows.
    case wrongCount = "the number of values does not match the columns or the rows"
    /// The value does not fit the column.
    case wrongType = "the value does not fit the column"
    /// The cell has another kind of collection, or none.
    case wrongCollection = "the cell has another kind of collection, or none"
    /// The cell has no list or map with the id.
    case noCollection = "the cell has no list or map with that id"
    /// The position is outside of the collection.
    case outOfBounds = "the position is outside of the collection"
    /// The collection has no such element or key.
    case noElement = "the collection has no such element or key"
    /// The set has an equal element already.
    case elementExists = "the set already has an equal element"
    /// The number to add to is null, or the sum does not fit 64 bits.
    case noNumber = "the number is null, or the sum does not fit 64 bits"
    /// After the last change, a link leads to a row that does not exist.
    case noTarget = "after the last change, a link leads to a row that does not exist"
    /// After the last change, a link leads to a row that was deleted.
    case isLinked = "after the last change, a link leads to a row that was deleted"
    /// After the last change, an embedded object has no owner, or several.
    case noOwner = "after the last change, an embedded object has no owner, or several"
    /// After the last change, a list has not exactly one id for each element.
    case elementIDs = "after the last change, a list does not have exactly one id for each element"
    /// After the last change, a link to a missing row does not fit its cell, or the row exists.
    case absentLinks =
      "after the last change, a link to a missing row does not fit its cell, or the row exists"
    /// The id of a list or map in a mixed value is not valid.
    case nestedID = "the id of a list or map in the value is not valid"
  }

  /// Why the change could not be applied.
  public var reason: Reason
  /// The position of the change in the sequence; nil if the fault was found after the last change.
  public internal(set) var index: Int?
  /// The id of the table.
  public var table: UInt32
  /// The name of the table; nil if no table has the id.
  public var tableName: String?
  /// The id of the column; nil if the fault concerns no column.
  public var column: UInt16?
  /// The key of the row; nil if the fault concerns no row.
  public var row: UInt64?
}

extension ChangeMismatch: CustomStringConvertible {
  /// The mismatch in words, with the change, the table, the row and the column.
  public var description: String {
    let change = index.map { "change \($0)" } ?? "all changes"
    let table = tableName.map { "table \($0)" } ?? "table with id \(table)"
    let row = row.map { ", row \($0)" } ?? ""
    let column = column.map { ", column with id \($0)" } ?? ""
    return "\(change), \(table)\(row)\(column): \(reason.rawValue)"
  }
}
