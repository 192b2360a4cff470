import ArgumentParser
import Foundation
import RealmQuery
import RealmStorage

/// A query in the form that the tool accepts: the name of a table, and a query of its rows.
struct QueryRequest {
  var table: String
  /// The condition and the descriptors.
  var text: String

  /// Parses a query.
  ///
  /// - Throws: `ValidationError` if the name of the table is missing, or another word than WHERE, SORT, DISTINCT or
  ///   LIMIT follows it.
  init(_ query: String) throws {
    let query = query.trimmingCharacters(in: .whitespacesAndNewlines)
    guard let first = query.first else {
      throw ValidationError("The query is empty; begin it with the name of a table.")
    }
    let rest: Substring
    if first == "\"" || first == "'" {
      guard let end = query.dropFirst().firstIndex(of: first) else {
        throw ValidationError("The name of the table has no closing \(first).")
      }
      table = String(query[query.index(after: query.startIndex)..<end])
      rest = query[query.index(after: end)...]
    } else {
      let end = query.firstIndex(where: \.isWhitespace) ?? query.endIndex
      table = String(query[..<end])
      rest = query[end...]
    }
    let behind = rest.trimmingCharacters(in: .whitespacesAndNewlines)
    let word = behind.prefix { $0.isLetter }.lowercased()
    switch word {
    case "where": text = String(behind.dropFirst(word.count))
    case "": text = "TRUEPREDICATE"
    case "sort", "distinct", "limit": text = "TRUEPREDICATE " + behind
    default:
      throw ValidationError(
        "'\(behind.prefix(20))' stands behind the name of the table; WHERE, SORT, DISTINCT or LIMIT may.")
    }
    guard word != "" || behind.isEmpty else {
      throw ValidationError(
        "'\(behind.prefix(20))' stands behind the name of the table; WHERE, SORT, DISTINCT or LIMIT may.")
    }
  }

  /// Finds the table and makes the search for its rows.
  ///
  /// - Parameters:
  ///   - tables: all tables of a version or of an open transaction.
  ///   - file: the name of the file in messages.
  /// - Throws: `QueryError` if the query can't be read or makes no sense for the tables; `ValidationError` if there is
  ///   no such table; `StorageError`.
  func search(_ tables: [Table], in file: String) throws -> (Table, RowSearch) {
    let schemas = tables.map(\.schema)
    let table = try tables.named(table, in: file)
    // The error that kept an object from being looked up. Without it, the object would count as missing.
    var failure: StorageError?
    let binder = QueryBinder(
      QueryNames(tables: schemas), table: table.schema.id, language: .rql, text: text
    ) { id, key in
      guard let table = tables.first(where: { $0.schema.id == id }),
        let column = table.schema.columns.firstIndex(where: { $0.index == .unique })
      else { return nil }
      do throws(StorageError) {
        return try table.rows(where: .compare(ColumnPath(column), .equal, key)).first
      } catch {
        failure = error
        return nil
      }
    }
    let plan = try binder.plan(try QueryParser.rql(text))
    if let failure { throw failure }
    return (table, RowSearch(plan, in: table))
  }
}

extension [Table] {
  /// The table with a name. Names differ if their bytes differ, even if the texts are equivalent.
  ///
  /// - Parameter file: the name of the file in messages.
  /// - Throws: `ValidationError` if there is no such table.
  func named(_ name: String, in file: String) throws -> Table {
    if let found = first(where: { $0.schema.name.utf8.elementsEqual(name.utf8) }) { return found }
    let names = isEmpty ? "none" : map(\.schema.name).joined(separator: ", ")
    throw ValidationError("There is no table '\(name)' in \(file). The tables there are: \(names).")
  }
}
