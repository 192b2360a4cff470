import RealmStorage

extension Mover.Options {
  /// Moves nodes even in files of a few pages, at every second commit.
  package static var eager: Self {
    var options = Self()
    options.slack = 4
    options.stretch = 4
    options.interval = 2
    options.bytes = 16 << 10
    options.urgentBytes = 16 << 10
    options.hole = 4
    options.reads = 4
    return options
  }
}

/// Random changes of a transaction and of its expected content.
package enum Workload {
  package static func change(
    _ transaction: WriteTransaction, _ content: inout Content, _ generator: inout SeededGenerator
  ) throws {
    // Every fourth transaction is recorded, but without changes of columns, because a recorder refuses them.
    let isRecorded = transaction.base.number % 4 == 0
    if isRecorded { try changeLinked(transaction, &content, &generator) }
    if generator.chance(40) { try changeTable(transaction, &content, &generator) }
    // Much content slows down all later steps, so it is soon removed.
    if content.trees["much"] != nil {
      if generator.chance(30) { try removeMuch(transaction, &content) }
    } else if generator.chance(2) {
      try addMuch(transaction, &content, &generator)
    }
    for _ in 0...generator.below(6) {
      let name = ["a", "b", "long names come too"][generator.below(3)]
      let tree = try transaction.tree(name)
      let key = key(&generator)
      switch generator.below(100) {
      case 0..<60:
        let value = value(&generator)
        try tree.set(value, for: key)
        content.trees[name, default: [:]][key] = value
      case 60..<95:
        let victim = content.trees[name]?.keys.sorted { $0.lexicographicallyPrecedes($1) } ?? []
        let key = victim.isEmpty ? key : victim[generator.below(victim.count)]
        try tree.removeValue(for: key)
        content.trees[name]?[key] = nil
      case 95..<98:
        try tree.removeAll()
        content.trees[name] = nil
      default:
        for number in 0..<200 {
          let key = Array("batch \(number * 7 % 200)".utf8)
          let value = [UInt8](repeating: UInt8(number), count: 20)
          try tree.set(value, for: key)
          content.trees[name, default: [:]][key] = value
        }
      }
    }
  }

  private static func changeTable(
    _ transaction: WriteTransaction, _ content: inout Content, _ generator: inout SeededGenerator
  ) throws {
    var things = content.things ?? TableModel(changesSchema: true)
    things.changesSchema = !transaction.isRecorded
    defer { content.things?.changesSchema = true }
    let table: WritableTable
    if let known = try transaction.table(TableModel.name) {
      table = known
    } else {
      let columns = generator.chance(15) ? TableModel.ofEachType : TableModel.few
      table = try transaction.createTable(TableSchema(TableModel.name, columns: columns))
    }
    for _ in 0...(generator.below(400) == 0 ? 600 : generator.below(6)) {
      if let wrong = try things.change(table, &generator) { throw Wrong(what: wrong) }
    }
    content.things = things
  }

  /// Changes the table whose lists have ids. The recorder gives these ids.
  package static func changeLinked(
    _ transaction: WriteTransaction, _ content: inout Content, _ generator: inout SeededGenerator
  ) throws {
    var model = content.linked?.model ?? CompanionModel()
    if !transaction.isRecorded { try transaction.record(into: model.recorder()) }
    let table =
      try transaction.table(CompanionModel.name) ?? transaction.createTable(CompanionModel.schema)
    for _ in 0..<generator.below(12) { try model.change(table, &generator) }
    var linked = content.linked ?? Content.Linked(table: table.schema.id)
    linked.model = model
    content.linked = linked
  }

  /// Adds more than a mebibyte. Such a commit syncs its nodes before its meta page.
  private static func addMuch(
    _ transaction: WriteTransaction, _ content: inout Content, _ generator: inout SeededGenerator
  ) throws {
    let value = [UInt8](repeating: UInt8(generator.below(256)), count: 1_100_000)
    try transaction.tree("much").set(value, for: [0])
    content.trees["much"] = [[0]: value]
  }

  private static func removeMuch(_ transaction: WriteTransaction, _ content: inout Content) throws {
    try transaction.tree("much").removeAll()
    content.trees["much"] = nil
  }

  /// An error that says how the table and its model differ.
  package struct Wrong: Error {
    package let what: String
  }

  private static func key(_ generator: inout SeededGenerator) -> [UInt8] {
    switch generator.below(10) {
    case 0: return generator.bytes(generator.below(5))
    case 1: return [UInt8](repeating: 7, count: 900) + generator.bytes(2)
    case 2..<6: return Array("key \(generator.below(500))".utf8)
    default: return generator.bytes(8)
    }
  }

  private static func value(_ generator: inout SeededGenerator) -> [UInt8] {
    switch generator.below(20) {
    case 0: return []
    case 1: return generator.bytes(1000 + generator.below(50))
    case 2: return [UInt8](repeating: UInt8(generator.below(256)), count: 70_000)
    default: return generator.bytes(generator.below(60))
    }
  }
}
