/// Why the engine could not open, read or write a database.
///
/// Each case carries what a program needs to react; `description` says it in words, with the remedy.
/// No stored key or value appears in any of them.
public indirect enum StorageError: Error, Sendable, Equatable {
  /// The file does not start with a meta page of this format, and never did. An encrypted file of the original Realm
  /// can't be told from noise; `mayBeOriginal` says that the file may be one.
  case notARealmFile(path: String, mayBeOriginal: Bool = false)
  /// The original Realm wrote the file, in its own format of this number; 0 where the file's header names none.
  case originalRealmFile(format: UInt8, path: String)
  /// The file was written in a format this engine does not read.
  case unsupportedFormat(found: UInt32, supported: UInt32, path: String)
  /// The file is older than format 1, and of another draft than the last one, which is all that this engine reads of them.
  case unsupportedDraft(found: UInt32, supported: UInt32, path: String)
  /// The file uses something that this version of the library does not know, and that must be known to read the file, or to
  /// write it.
  case unknownFeature(Feature, path: String)
  /// The file has no bytes, and was opened for reading only: there is no database in it yet.
  case emptyFile(path: String)
  /// The file is shorter than its newest version needs.
  case truncated(path: String, length: UInt64, needed: UInt64)
  /// The file is encrypted with another key.
  case wrongKey(path: String)
  /// The file is encrypted and no key was given.
  case keyMissing(path: String)
  /// A key was given for a file that is not encrypted.
  case keyForPlainFile(path: String)
  /// An encryption key has another length than 64 bytes.
  case invalidKeyLength(Int)
  /// The file breaks its own format.
  case corrupted(Corruption, path: String)
  /// The system refused `call` at `offset` of the file at `path`.
  case system(call: SystemCall, errno: CInt, path: String, offset: UInt64?)
  /// An earlier sync or meta page write failed; the outcome of the commits since then is unknown.
  case poisoned(path: String)
  /// A snapshot of a version that a failed sync left unsure; it can't be read any more.
  case snapshotExpired(path: String)
  /// The version that was kept by this name is kept no longer: more was kept by names than `DatabaseOptions.namedVersionLimit`
  /// allows, and it was the oldest.
  case versionEnded(name: String, version: UInt64, path: String)
  /// Another process has the file open, and what it shares with others can't be found: its folder `.management` was
  /// deleted or replaced, or it runs an engine of another age.
  case inUse(path: String)
  /// What this handle shares with other processes is not what they find: `.management` was deleted or replaced.
  case controlReplaced(path: String)
  /// The database was closed.
  case closed(path: String)
  /// A process that was forked from the one that opened the database asked for more than to read on.
  case forked(path: String)
  /// A write was asked of a database opened for reading only.
  case readOnly(path: String)
  /// The file lies on a network or user-space file system, where mappings are not coherent.
  case remoteFileSystem(path: String)
  /// Another row has the value in a column that no two rows may have one value of.
  case duplicateKey(table: String, column: String, path: String)
  /// A change that was recorded elsewhere does not fit what there is; the transaction can't be committed.
  case changeDoesNotFit(ChangeMismatch, path: String)
  /// A change of the schema that a recorder can't be told was made in a transaction that has one; nothing was changed.
  case schemaChangeWhileRecording(table: String, path: String)
  /// A transaction inserts or moves elements of lists that have ids, and has no recorder that gives ids; nothing was changed.
  case elementIDsMissing(table: String, column: String, path: String)
  /// Only a table without rows can be told to give ids to the elements of its lists; nothing was changed.
  case tableNotEmpty(table: String, path: String)
  /// The file is synced and was to be opened as one that is not, or the reverse: `DatabaseOptions.history`.
  case otherHistory(isSynced: Bool, path: String)
  /// What was asked for can't be synced; nothing of it was changed, or the transaction can't be committed.
  case notSyncable(SyncProblem, table: String, column: String?, path: String)
  /// An instruction of a changeset does not fit what there is; the transaction can't be committed.
  case instructionDoesNotFit(InstructionProblem, table: String, column: String?, path: String)
  /// Two versions differ by more than tables and columns that the newer one has in addition: a table, or a column of it, was removed,
  /// or what it is was changed. Such a difference is no list of changes of rows.
  case schemaChanged(table: String, column: String?, path: String)
  /// A search was ended by who began it.
  case queryCancelled(path: String)
  /// A search had not found all at the moment it was to end.
  case queryDeadline(path: String)
  /// A limit of the format stands against what was asked; nothing was written.
  case limitExceeded(Limit, path: String)
}

/// The system call a `StorageError.system` speaks of.
public enum SystemCall: String, Sendable {
  case open, read, write, sync, truncate, map, lock, link, rename, remove, stat
  case makeDirectory = "make directory"
}

/// Why something can't be done in a synced file.
public enum SyncProblem: String, Sendable {
  /// A table that is not embedded has no primary key.
  case noPrimaryKey = "its objects can't be told apart: give it a primary key"
  /// The primary key is of a type that names no object.
  case primaryKeyType = "a primary key is a whole number, text, a UUID or an object id"
  /// Embedded objects stand in each other deeper than 256 levels.
  case tooDeep = "embedded objects stand in each other 256 levels deep at most"
  /// The primary key of a row was to change.
  case primaryKeyChanged = "the primary key of an object stays as it is: make another object"
  /// A table or column was to go, or to become another one.
  case schemaNotAdded = "tables and columns are added to a synced file, and stay as they are: add another one"
  /// Changes that were recorded elsewhere, or links by primary key, were to be put into the file past the rules of merging.
  case appliedChange = "the change would pass by the rules of merging: make it as any other"
}

/// Why an instruction of a changeset can't be carried out.
public enum InstructionProblem: String, Sendable {
  case noTable = "there is no such table"
  case noProperty = "there is no such property"
  case noObject = "the object is not there"
  case noEmbedded = "the embedded object is not there"
  case noElement = "the list has no element of that id"
  case elementExists = "the list has an element of that id already"
  case wrongValue = "the value does not fit the property"
  case wrongKind = "the property does not hold what the instruction changes"
  case tooDeep = "the place lies in too many objects and collections"
}

/// A limit of the format.
public enum Limit: Sendable, Equatable {
  /// A key of an ordered tree is longer than `maximum` bytes.
  case keyLength(Int, maximum: Int)
  /// A value is longer than 2^40 bytes.
  case valueLength(Int, maximum: Int)
  /// A transaction holds more than 64 GiB of changes, or a database in memory more than 64 GiB.
  case memory
  /// The file would pass 2^47 bytes.
  case fileSize
  /// 2^62 rows have been made in a table.
  case rows
  /// 2^62 ids of lists and maps that stand in mixed values have been given in a table.
  case nestedCollections
  /// 2^32 tables have been made in a database.
  case tables
  /// A table has more than `maximum` columns at once.
  case columns(Int, maximum: Int)
  /// A value of a synced file is longer than `maximum` bytes.
  case syncedValueLength(table: String, column: String, maximum: Int)
  /// 2^32 elements were inserted into the lists of a synced file.
  case elementIDs
  /// All 65,535 ids of a table's columns have been given, which are never given again.
  case columnIDs
  /// All 65,535 ids of a table's indexes have been given, which are never given again.
  case indexIDs
  /// 2^48 versions have been given.
  case versions
  /// `maximum` versions are kept by name.
  case namedVersions(maximum: Int)
  /// 256 handles have the database open.
  case processes
  /// 32,768 pins of versions by processes are held.
  case readers
  /// A name of a tree, table, column or version is longer than `maximum` bytes, or empty.
  case nameLength(Int, maximum: Int)
}

extension StorageError {
  /// Something of a file that this version of the library does not know.
  public struct Feature: Sendable, Hashable {
    /// What can't be done without knowing it.
    public enum Need: String, Sendable {
      /// The file can't be read, nor written.
      case read
      /// The file can be read, and not written.
      case write
    }

    /// What it belongs to, as "table Person", "column Person.name" or "the catalogue".
    public let owner: String
    /// What it is there, as "attribute 9", "type 16" or "slot sync".
    public let name: String
    public let need: Need

    package init(_ name: String, of owner: String, need: Need) {
      self.name = name
      self.owner = owner
      self.need = need
    }
  }
}

extension StorageError.Feature: CustomStringConvertible {
  public var description: String { "\(name) of \(owner)" }
}

/// What breaks the format, and where.
public struct Corruption: Sendable, Equatable {
  public enum Finding: String, Sendable {
    case checksum = "the checksum does not match"
    case authentication = "the authentication tag does not match"
    case header = "the node's header does not repeat its ref"
    case place = "a ref points outside of its file"
    case order = "a child is younger than its parent, or not below it"
    case structure = "the node's content breaks its layout"
    case overlap = "two nodes claim the same bytes"
    case rows = "a count of rows does not match"
    case keyOrder = "keys are out of order"
    case index = "an index and the rows it finds do not agree"
    case link = "links and the index of who links do not agree"
    case code = "a code that its dictionary lacks"
    case metaPages = "no meta page is whole"
    case metaPage = "a meta page is damaged"
    case unreadable = "the disk can't read it"
  }
  public let finding: Finding
  /// Byte offset in the file; nil for a node that was never written.
  public let offset: UInt64?
  /// Bytes of the node's content.
  public let length: Int
  /// The version that wrote the node, as its ref tells.
  public let birth: UInt64
  /// What the node is: a name of FORMAT.md's list of node kinds.
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
  public var description: String {
    let place = offset.map { "at offset \($0)" } ?? "in memory"
    return "\(nodeKind) \(place) (\(length) bytes, written by version \(birth)): \(finding.rawValue)"
  }
}

extension StorageError: CustomStringConvertible {
  private static let wayFromOriginal =
    "export it by a program built on the original SDK, for example to JSON, and build the objects anew from that."

  public var description: String {
    switch self {
    case .notARealmFile(let path, false):
      "\(path) is not a realm file; give the path of a .realm file, or of one that does not exist yet."
    case .notARealmFile(let path, true):
      "\(path) is not a realm file, or it is an encrypted file of the original Realm, which looks like noise and which "
        + "this library does not read. Give the path of a .realm file of this library, or of one that does not exist "
        + "yet; \(Self.wayFromOriginal) The file was not touched."
    case .originalRealmFile(let format, let path):
      "\(path) is a file of the original Realm, \(format == 0 ? "without a format number" : "in its format \(format)"); "
        + "this library does not read it yet. To go on with what it holds, \(Self.wayFromOriginal) "
        + "The file was not touched."
    case .unsupportedFormat(let found, let supported, let path):
      "\(path) has file format \(found), this library reads format \(supported). Use a newer version of this library; where "
        + "none reads that format, the file is damaged. The file was not touched."
    case .unsupportedDraft(let found, let supported, let path):
      "\(path) was written in draft \(found) of the file format, this library reads format \(MetaPage.format) and the last "
        + "draft before it, which is draft \(supported). Write its content out by the version of this library that made it, "
        + "for example by `realm dump --json`, and build a new file from that. The file was not touched."
    case .unknownFeature(let feature, let path):
      "\(path) uses what this version of the library does not know and must know to \(feature.need.rawValue) it: "
        + "\(feature). Use a newer version of this library. The content of the file was not changed."
    case .emptyFile(let path):
      "\(path) is empty: it has 0 bytes, and who only reads makes no realm of it. Open it once for writing."
    case .truncated(let path, let length, let needed):
      "\(path) has \(length) bytes where its newest version needs \(needed): it was cut short. "
        + "Restore it from a copy."
    case .wrongKey(let path):
      "\(path) is encrypted with another key; the file was not touched."
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
      "An earlier write to \(path) failed in a way that leaves its outcome unknown; "
        + "close the database and open it again, which recovers the last durable version."
    case .snapshotExpired(let path):
      "A sync of \(path) failed, and this snapshot is of a later version than the disk surely holds; "
        + "close the database, open it again and take a new one."
    case .versionEnded(let name, let version, let path):
      "Version \(version) of \(path), kept by the name \(name), was given up: more was kept by names than is allowed. "
        + "Read the newest version in full, and keep that by the name; keep versions for a shorter time, or allow more by "
        + "DatabaseOptions.namedVersionLimit."
    case .inUse(let path):
      "\(path) is open in a process that this one can't share it with: its .management folder was deleted or replaced, "
        + "or that process runs another version of this library. Close it there first."
    case .controlReplaced(let path):
      "\(path).management was deleted or replaced while the database was open; close it here and open it again."
    case .closed(let path):
      "\(path) was closed; open it again."
    case .forked(let path):
      "\(path) was opened before this process was forked; a child may only read the snapshots it inherited. "
        + "Open the database in the child."
    case .readOnly(let path):
      "\(path) was opened for reading only."
    case .remoteFileSystem(let path):
      "\(path) lies on a network or user-space file system, where a mapped database is not safe; "
        + "move it to a local disk, or open it for reading only."
    case .duplicateKey(let table, let column, let path):
      "Another row of table \(table) in \(path) has that value of \(column), which is unique; "
        + "change that row, or take another value."
    case .changeDoesNotFit(let mismatch, let path):
      "A recorded change does not fit the version of \(path) that it was applied to: \(mismatch). Apply changes to the version "
        + "that they were recorded on, each of them once and in their order. The transaction can't be committed."
    case .schemaChangeWhileRecording(let table, let path):
      "While a recorder is told the changes of a transaction on \(path), the schema of table \(table) can get new columns, and nothing "
        + "else of it can be changed. Make that change in a transaction without a recorder."
    case .elementIDsMissing(let table, let column, let path):
      "The elements of \(table).\(column) in \(path) have ids, and the transaction has no recorder that gives some. Attach one whose "
        + "elementIDs(_:) answers ids before elements are inserted or moved."
    case .tableNotEmpty(let table, let path):
      "Table \(table) in \(path) has rows, and the elements of their lists have no ids. Ask for ids while the table is empty, or copy "
        + "the rows to a new table that has them."
    case .otherHistory(true, let path):
      "\(path) is synced: what is written to it is recorded for other devices. Open it with the option history = .synced."
    case .otherHistory(false, let path):
      "\(path) is not synced, and what was written to it was not recorded. Open it with the option history = .local, or make a "
        + "new file and copy its objects."
    case .notSyncable(let problem, let table, let column, let path):
      "\(path) is synced, and \(column.map { "\(table).\($0)" } ?? table) can't be so: \(problem.rawValue)."
    case .instructionDoesNotFit(let problem, let table, let column, let path):
      "A changeset can't be applied to \(path) at \(column.map { "\(table).\($0)" } ?? table): \(problem.rawValue)."
    case .schemaChanged(let table, let column, let path):
      "The two versions of \(path) can't be told apart by changes of rows: "
        + (column.map { "column \($0) of table \(table)" } ?? "table \(table)")
        + " was removed, renamed or made another. Read the newer version anew."
    case .queryCancelled(let path): "A search in \(path) was cancelled."
    case .queryDeadline(let path):
      "A search in \(path) had not ended at its deadline; give it more time, or ask for fewer rows."
    case .limitExceeded(let limit, let path):
      "\(path): \(limit.description)"
    }
  }
}

extension Limit: CustomStringConvertible {
  public var description: String {
    switch self {
    case .keyLength(let length, let maximum): "a key of \(length) bytes is longer than \(maximum)."
    case .valueLength(let length, let maximum): "a value of \(length) bytes is longer than \(maximum)."
    case .memory: "it would hold more than 64 GiB in memory; commit in smaller parts."
    case .fileSize: "the file would pass 2^47 bytes."
    case .rows: "all 2^62 keys of a table have been given."
    case .nestedCollections: "all 2^62 ids of nested lists and maps of a table have been given."
    case .tables: "all 2^32 numbers of tables have been given."
    case .columns(let count, let maximum):
      "a table has at most \(maximum) columns; this one would have \(count)."
    case .columnIDs:
      "all 65,535 ids of a table's columns have been given, those of removed ones included; make another table."
    case .syncedValueLength(let table, let column, let maximum):
      "a value of \(table).\(column) is longer than \(maximum) bytes, and can't be synced; store it in parts."
    case .elementIDs: "all 2^32 ids of the elements of lists have been given."
    case .indexIDs: "all 65,535 ids of a table's indexes have been given; make another table."
    case .processes: "256 handles have it open; close some."
    case .readers: "32,768 versions are pinned by processes; release snapshots."
    case .versions:
      "all 2^48 version numbers have been given; build a new file from what `realm dump --json` writes."
    case .namedVersions(let maximum):
      "\(maximum) versions are kept by name; drop some by Database.dropVersion(named:)."
    case .nameLength(let length, let maximum): "a name has 1 to \(maximum) bytes; this one has \(length)."
    }
  }
}

/// Why a recorded change could not be applied.
public struct ChangeMismatch: Sendable, Equatable {
  public enum Reason: String, Sendable, CaseIterable {
    case noTable = "there is no table of that id"
    case tableExists = "a table of that id or name is there already, or was there"
    case noColumn = "the table has no column of that id"
    case columnExists = "a column of that id or name is there already, or was there"
    case invalidSchema = "the schema of the table or column is none"
    case noRow = "there is no row of that key"
    case rowExists = "there is a row of that key already"
    case rowKey = "the key of the row is none, or far ahead of the last one that was given"
    case wrongCount = "there are more values than columns, or other than rows"
    case wrongType = "the value does not fit the column"
    case wrongCollection = "the cell holds another kind of collection, or none"
    case noCollection = "the cell holds no list or map of that id"
    case outOfBounds = "the collection has no such position"
    case noElement = "the collection has no such element or key"
    case elementExists = "the set has such an element already"
    case noNumber = "the number is null, or the sum has more than 64 bits"
    case noTarget = "a link leads to a row that is not there after the last change"
    case isLinked = "a row that was deleted is linked to after the last change"
    case noOwner = "an embedded object has no owner, or several, after the last change"
    case elementIDs = "a list has not one id for each element after the last change"
    case absentLinks =
      "a link to a row that is not there does not fit its cell, or the row is there, after the last change"
    case nestedID = "the id of a list or map that stands in the value is none"
  }

  public var reason: Reason
  /// The position of the change among those that were applied; nil for what is looked at after the last one.
  public internal(set) var index: Int?
  /// The id of the table.
  public var table: UInt32
  /// The name of the table; nil where there is none of that id.
  public var tableName: String?
  /// The id of the column.
  public var column: UInt16?
  public var row: UInt64?
}

extension ChangeMismatch: CustomStringConvertible {
  public var description: String {
    let change = index.map { "change \($0)" } ?? "all changes"
    let table = tableName.map { "table \($0)" } ?? "table of the id \(table)"
    let row = row.map { ", row \($0)" } ?? ""
    let column = column.map { ", column of the id \($0)" } ?? ""
    return "\(change), \(table)\(row)\(column): \(reason.rawValue)"
  }
}
