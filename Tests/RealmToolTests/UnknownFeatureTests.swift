import Foundation
import RealmTestSupport
import Testing

@testable import RealmStorage

/// Files of a later version of the library, which this version can't write or can't even read.
@Suite struct UnknownFeatureTests {
  private func make(_ path: String, _ rule: AttributeRule) throws {
    let database = try Database(path: path)
    try database.write { transaction in
      let table = try transaction.createTable(TableSchema("Person", columns: [Column("name", .string)]))
      try table.insert(["name": .string("Ann")])
      _ = try transaction.createTable(TableSchema("Secret", isHidden: true, columns: [Column("n", .int64)]))
      let writer = try #require(try transaction.tables().writer("Person"))
      try writer.changeSchema { $0.unknown.columns[1] = [Attribute(number: 50, rule: rule, value: [1])] }
    }
  }

  @Test func `a file that forbids writing is read, and the check shows why it can't be written`() throws {
    try withTemporaryPath { path in
      try make(path, .knownToWrite)
      let check = try Tool.run(["check", path])
      #expect(check.code == 0)
      #expect(
        check.output.contains(
          "UNKNOWN: attribute 50 of column Person.name: this version of the library can read the file, and not write it."
        ))
      #expect(check.output.contains("all whole."))
      let dump = try Tool.run(["dump", path])
      #expect(dump.code == 0 && dump.output.contains("Ann"))
      for command in [["copy", path, path + ".copy"], ["compact", path]] {
        let outcome = try Tool.run(command)
        #expect(
          outcome.code == 3 && outcome.complaint.contains("must know to write it: attribute 50"), "\(command)"
        )
      }
      #expect(!FileManager.default.fileExists(atPath: path + ".copy"))
    }
  }

  @Test func `a file that forbids reading is refused by name`() throws {
    try withTemporaryPath { path in
      try make(path, .knownToRead)
      for command in ["info", "check", "schema", "stats", "dump"] {
        let outcome = try Tool.run([command, path])
        #expect(outcome.code == 3, "\(command)")
        #expect(
          outcome.complaint.contains("must know to read it: attribute 50 of column Person.name"), "\(command)"
        )
      }
      #expect(try Tool.run(["dump", "--keep-going", path]).code == 3)
    }
  }

  @Test func `only stats and the check show hidden tables`() throws {
    try withTemporaryPath { path in
      try make(path, .ignorable)
      #expect(try !Tool.run(["dump", "--json", path]).output.contains("Secret"))
      #expect(try !Tool.run(["dump", "--json", "--keep-going", path]).output.contains("Secret"))
      #expect(try !Tool.run(["schema", path]).output.contains("Secret"))
      #expect(try Tool.run(["info", path]).output.contains("Tables                1\n"))
      #expect(try Tool.run(["stats", path]).output.contains("hidden table Secret"))
      #expect(try Tool.run(["stats", "--json", path]).output.contains(#""name":"Secret","hidden":true"#))
    }
  }
}
