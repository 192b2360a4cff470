import RealmStorage
import RealmTestSupport

/// Plain files changed by a forger, who makes all checksums fit. The forger chooses the content. Reading such a file
/// must still end, in bounded memory, with data or with a typed error.
struct Forged {
  let sample: Sample

  func run(_ part: Part) throws {
    let forge = try Forge(sample.bytes)
    for place in Forgery.Place.allCases where place != .catalogue && place.index(in: forge) == 0 {
      throw Violation("the sample has no \(place)")
    }
    let originalStorage = try ByteStorage()
    originalStorage.fill(sample.bytes)
    let original = try Database(storage: originalStorage, options: Sample.options(nil)).snapshot()
    let storage = try ByteStorage()
    for number in 0..<(part.isQuick ? 3_000 : 150_000) {
      var generator = part.generator(number)
      var forged = forge
      for _ in 0...generator.below(3) { forged.mutate(&generator) }
      if generator.chance(40) { forged.makeUnclean(durable: UInt64(generator.below(3))) }
      let isReadOnly = generator.chance(20)
      try part.state("random forgery \(number)") {
        storage.fill(forged.bytes)
        try BoundedReader.read(storage, isReadOnly: isReadOnly, beside: original)
      }
    }
    for forgery in Forgery.all {
      for isClean in [true, false] {
        var forged = forge
        forgery.apply(&forged)
        if !isClean { forged.makeUnclean(durable: 0) }
        try part.state("\(forgery.name), \(isClean ? "clean" : "unclean")") {
          storage.fill(forged.bytes)
          try BoundedReader.read(storage, isReadOnly: false, beside: original)
        }
      }
    }
  }
}

/// Reads a file in all possible ways. It does not read all entries, because a forger may claim any number of them.
private enum BoundedReader {
  private static let maximumEntries = 2000
  private static let keys: [[UInt8]] = [[], Array("key 7".utf8), [0xff, 0xff, 0xff]]
  private static let positions = [0, 1, 100, 1 << 61, Int.max]

  static func read(_ storage: ByteStorage, isReadOnly: Bool, beside original: Snapshot) throws {
    let database: Database
    do throws(StorageError) {
      database = try Database(
        storage: storage, options: .init(isReadOnly: isReadOnly, decryptedMemory: 1 << 22))
    } catch {
      return
    }
    let snapshot = try database.snapshot()
    let report = IntegrityCheck.run(snapshot)
    if !isReadOnly, report.isClean {
      do throws(StorageError) {
        try database.beginWrite().cancel()
      } catch {
        if case .corrupted = error {
          throw Violation("the check finds nothing, but who writes is told: \(error)")
        }
      }
    }
    try attempt { for name in try database.namedVersions() { _ = try database.snapshot(named: name.name) } }
    try attempt { _ = try NamedVersionCheck.run(database) }
    try attempt { _ = try database.pinnedVersions() }
    for name in ["a", "b", "c"] {
      try attempt { try readTree(snapshot.tree(name)) }
      try attempt { _ = try snapshot.treeDifferences(name, since: original) }
    }
    try attempt { if let table = try snapshot.table(TableModel.name) { try readTable(table) } }
    try attempt { _ = try snapshot.changes(inTable: TableModel.name, since: original) }
    try attempt { _ = try original.changes(inTable: TableModel.name, since: snapshot) }
    if !isReadOnly { try attempt { try changeTable(database) } }
    try attempt {
      for name in try snapshot.treeNames().prefix(8) { try readTree(snapshot.tree(name)) }
    }
  }

  private static func readTable(_ table: Table) throws {
    for (position, column) in table.schema.columns.enumerated() {
      for question in Probe.questions(column, position) {
        try attempt { _ = try table.count(where: question) }
        try attempt { _ = try table.count(where: .not(question)) }
      }
      if !column.isCollection {
        try attempt { _ = try table.sorted(nil, by: [SortKey(ColumnPath(position))]) }
      }
      for key in [0, 3, 1 << 40] as [UInt64] {
        try attempt { try find(key, by: column, in: table) }
      }
    }
    for position in positions where position < table.count {
      try attempt { _ = try table.rank(of: table.key(at: position)) }
    }
    var rows = 0
    try attempt {
      try table.forEach { _, _ in
        rows += 1
        return rows < maximumEntries
      }
    }
    var groups = 0
    try attempt {
      try table.forEachGroup { (group) throws(StorageError) in
        for (index, column) in table.schema.columns.enumerated() where !column.isCollection {
          guard column.type == .string || column.type == .data else { continue }
          let texts = try group.texts(index, from: 0)
          for row in texts.rows { _ = try texts.bytes(row).byteCount }
        }
        groups += 1
        return groups < maximumEntries
      }
    }
  }

  /// Finds a row by the index of a column, and finds the rows that link to it.
  private static func find(_ key: UInt64, by column: Column, in table: Table) throws {
    if column.index != .none, let value = try table.value(column, ofRow: key) {
      _ = try table.rows(with: value, in: column)
      _ = try table.count(with: value, in: column)
      if column.index == .unique { _ = try table.row(withPrimaryKey: value) }
    }
    if column.type == .link { _ = try table.sources(of: key, column: column, of: table.schema) }
  }

  /// Changes a table. A change reads what it changes, and also reads a dictionary to find a value in it.
  private static func changeTable(_ database: Database) throws {
    for key in UInt64(0)..<3 {
      let transaction = try database.beginWrite()
      defer { transaction.cancel() }
      try attempt {
        // A forger may have renamed the columns, and a writer looks at the schema first.
        guard let table = try transaction.table(TableModel.name),
          let column = table.schema.column("city"), column.type == .string, !column.isCollection
        else { return }
        _ = try table.set(.string("new"), "city", ofRow: key)
      }
      try attempt { _ = try transaction.table(TableModel.name)?.remove(key) }
    }
    try changeCollections(database)
    let transaction = try database.beginWrite()
    defer { transaction.cancel() }
    try attempt {
      guard let table = try transaction.table(TableModel.name) else { return }
      if let score = table.schema.column("score"), score.type == .double, !score.isCollection {
        for key in UInt64(0)..<20 { _ = try table.set(.double(Double(key)), "score", ofRow: key) }
      }
      try table.remove((UInt64(0)..<40).map { 2 * $0 })
      _ = try table.reading().count
    }
  }

  /// Changes collections. A change of elements reads the nodes before and after them.
  private static func changeCollections(_ database: Database) throws {
    let transaction = try database.beginWrite()
    defer { transaction.cancel() }
    for key in stride(from: UInt64(0), to: 80, by: 4) {
      try attempt {
        guard let table = try transaction.table(TableModel.name) else { return }
        for (place, column) in table.schema.columns.enumerated() {
          switch column.collection {
          case .list:
            guard let count = try table.listCount(place, ofRow: key), count > 1 else { continue }
            try table.moveElement(from: count / 2, to: 0, ofList: place, ofRow: key)
            try table.removeElements(count - 1..<count, ofList: place, ofRow: key)
          case .map:
            try table.removeValue(forKey: "grown 7", ofMap: place, ofRow: key)
            try table.removeValue(forKey: "grown 170", ofMap: place, ofRow: key)
          case .set:
            guard let count = try table.sortedCount(place, ofRow: key), count > 0,
              let element = try table.element(at: count / 2, ofSorted: place, ofRow: key)
            else { continue }
            try table.remove(element, fromSet: place, ofRow: key)
          case .none: continue
          }
        }
      }
    }
    try attempt { _ = try transaction.table(TableModel.name)?.reading().count }
  }

  private static func readTree(_ tree: Tree) throws {
    try attempt { _ = try tree.count() }
    for key in keys {
      try attempt { _ = try tree.value(for: key) }
      try attempt { _ = try tree.rank(of: key) }
    }
    for position in positions { try attempt { _ = try tree.entry(at: position) } }
    try attempt { try readEntries(tree) }
  }

  private static func readEntries(_ tree: Tree) throws {
    var entries = 0
    try tree.forEach { _, _ in
      entries += 1
      return entries < maximumEntries
    }
  }

  /// Runs `body`. A typed error is accepted, too.
  private static func attempt(_ body: () throws -> Void) throws {
    do {
      try body()
    } catch is StorageError {}
  }
}
