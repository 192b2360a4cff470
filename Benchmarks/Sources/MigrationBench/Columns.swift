import Foundation
import RealmStorage
import RealmSwift

/// Measures the engine's changes of columns of a large table, without the commit that follows.
struct Columns {
  private let rows: Int
  private let place = Place()

  init(_ rows: Int) throws {
    self.rows = rows
    let database = try Database(path: place.url.path)
    try database.write { transaction in
      let targets = try transaction.createTable(TableSchema("Target", columns: [Column("id", .int64)]))
      for id in 0..<1_000 {
        _ = try targets.insert { (row) throws(StorageError) in try row.set(0, .int(Int64(id))) }
      }
      var link = Column("target", .link)
      link.target = targets.schema.id
      let table = try transaction.createTable(
        TableSchema("Row", columns: [Column("number", .int64), Column("text", .string), link]))
      let keys = try targets.reading().keys(from: 0).keys
      for id in 0..<rows {
        _ = try table.insert { (row) throws(StorageError) in
          try row.set(0, .int(Int64(id)))
          try row.set(1, .string("text \(id)"))
          try row.set(2, .link(keys[id % keys.count]))
        }
      }
    }
  }

  func run() throws {
    let names = ["V5 a column added", "V5 a column renamed", "V6 a column dropped"]
    var times: [[Double]] = names.map { _ in [] }
    var links: [Double] = []
    var commit: [Double] = []
    for _ in 0..<5 {
      let copy = try place.copy()
      let database = try Database(path: copy.url.path)
      let transaction = try database.beginWrite()
      guard let table = try transaction.table("Row") else { return }
      times[0].append(try seconds { try table.addColumn(Column("added", .int64)) })
      times[1].append(try seconds { try table.renameColumn(0, to: "renamed") })
      times[2].append(try seconds { try table.dropColumn(1) })
      commit.append(try seconds { try transaction.commit() })
      try database.write { transaction in
        guard let table = try transaction.table("Row"),
          let position = table.schema.columns.firstIndex(where: { $0.name == "target" })
        else { return }
        links.append(try seconds { try table.dropColumn(position) })
      }
      database.close()
    }
    for (name, times) in zip(names, times) { tell(name, median(times) * 1_000, "ms", aim: 1) }
    tell("V6 the commit with all three", median(commit) * 1_000, "ms")
    tell("V7 a column of links dropped, for each link", median(links) / Double(rows) * 1e6, "µs", aim: 0.3)
  }
}
