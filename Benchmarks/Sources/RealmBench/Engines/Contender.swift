/// An engine, and whether its file is encrypted.
struct Contender: Hashable {
  enum Kind: String, CaseIterable {
    case realmStorage = "realm-storage"
    case realmObjects = "realm-objects"
    case sqlite = "sqlite-c"
    case grdb = "grdb"
    case lmdb = "lmdb"
  }

  let kind: Kind
  var isEncrypted = false

  var label: String { isEncrypted ? kind.rawValue + "+key" : kind.rawValue }
  /// Whether the engine belongs to this project, and is not one of those that it is compared with.
  var isOurs: Bool { kind == .realmStorage || kind == .realmObjects }

  /// Whether the engine takes part in workloads on records. The object layer and GRDB do not, because they write what
  /// the engines below them write.
  var hasRecords: Bool { kind != .realmObjects && kind != .grdb }

  /// Opens the engine's file in `folder`, or makes it.
  func open(in folder: String, count: Int) throws -> any Engine {
    switch kind {
    case .realmStorage: try StorageEngine(folder: folder, isEncrypted: isEncrypted)
    case .realmObjects: try ObjectsEngine(folder: folder, isEncrypted: isEncrypted)
    case .sqlite: try SQLiteEngine(folder: folder, count: count)
    case .grdb: try GRDBEngine(folder: folder, count: count)
    case .lmdb: try LMDBEngine(folder: folder, count: count)
    }
  }
}

/// The reason why a run can't go on.
struct BenchmarkError: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
