import RealmQuery
import RealmStorage
import RealmTestSupport
import Testing

/// The objects of the conformance tables: three persons A, B and C, and the dogs Rex and Ida.
struct BindingFixture {
  let snapshot: Snapshot
  let names: QueryNames

  static let rex = QueryArgument.value(.typedLink(table: 2, row: 0))
  static let ida = QueryArgument.value(.typedLink(table: 2, row: 1))
  static let ann = QueryArgument.value(.typedLink(table: 3, row: 0))
  /// An object that is not in a realm.
  static let newDog = QueryArgument.value(.typedLink(table: 2, row: .max))

  init() throws {
    let database = try Database(creatingIn: SimulatedDisk(), options: .init())
    try database.write { transaction in
      let point = try transaction.createTable(
        TableSchema(
          "Point", isEmbedded: true,
          columns: [Column("type", .string), Column("coordinates", .double, collection: .list)]))
      let dogs = try transaction.createTable(
        TableSchema("Dog", columns: [Column("name", .string, index: .unique), Column("age", .int64)]))
      let persons = try transaction.createTable(
        TableSchema("Person", columns: Self.columns(dog: dogs.schema.id, point: point.schema.id)))
      #expect([point, dogs, persons].map(\.schema.id) == [1, 2, 3])
      for (name, age) in [("Rex", 3), ("Ida", 7)] {
        try dogs.insert(["name": .string(name), "age": .int(Int64(age))])
      }
      for row in Self.rows { try persons.insert(row) }
    }
    snapshot = try database.snapshot()
    let schemas = try snapshot.schemas()
    let person = try #require(try snapshot.table("Person")).schema
    let people = QueryNames.Inverse(table: person.id, column: try #require(person.column("dogs")).id)
    names = QueryNames(tables: schemas, aliases: [:], inverses: [2: ["people": people]], classes: [:])
  }

  private static func columns(dog: UInt32, point: UInt32) -> [Column] {
    [
      Column("id", .int64, index: .unique), Column("name", .string),
      Column("nick", .string, isOptional: true),
      Column("age", .int64), Column("height", .double), Column("vip", .bool),
      Column("score", .int64, isOptional: true), Column("born", .date), Column("dog", .link, target: dog),
      Column("dogs", .link, collection: .list, target: dog), Column("tags", .string, collection: .list),
      Column("nums", .int64, collection: .list), Column("kinds", .int64, collection: .set),
      Column("prefs", .int64, collection: .map), Column("mix", .mixed), Column("bio", .string),
      Column("loc", .link, target: point),
    ]
  }

  private static let rows: [[String: Value]] = [
    [
      "id": .int(1), "name": .string("Ann"), "nick": .null, "age": .int(30), "height": .double(1.7),
      "vip": .bool(true), "score": .int(5), "born": .date(Timestamp(seconds: 0)), "dog": .link(0),
      "dogs": .list([.link(0), .link(1)]), "tags": .list([.string("a"), .string("b")]),
      "nums": .list([.int(1), .int(2), .int(3)]), "kinds": .set([.int(1), .int(2)]),
      "prefs": .map(ValueMap(["x": .int(1), "y": .int(2)])), "mix": .int(42),
      "bio": .string("Red foxes run"),
    ],
    [
      "id": .int(2), "name": .string("Bob"), "nick": .string("bo"), "age": .int(40), "height": .double(1.5),
      "vip": .bool(false), "score": .null, "born": .date(Timestamp(seconds: 100)), "dog": .null,
      "mix": .string("Hi"), "bio": .string("a red fox"),
    ],
    [
      "id": .int(3), "name": .string("Élan"), "nick": .string(""), "age": .int(25), "height": .double(2.0),
      "vip": .bool(true), "score": .int(7), "born": .date(Timestamp(seconds: -1)), "dog": .link(1),
      "dogs": .list([.link(1), .link(1)]), "tags": .list([.string("b"), .string("B")]),
      "nums": .list([.int(5)]), "kinds": .set([.int(5)]), "prefs": .map(ValueMap(["x": .int(9)])),
      "mix": .map(ValueMap(["k": .list([.int(10), .map(ValueMap(["d": .bool(true)]))])])),
      "bio": .string("fox"),
    ],
  ]

  /// The names of the objects that a query finds, in their order, or the kind of its error.
  func outcome(
    _ text: String, _ language: QueryLanguage, _ arguments: [QueryArgument] = [],
    of className: String = "Person"
  ) throws -> String {
    let table = try #require(try snapshot.table(className))
    do throws(QueryError) {
      let plan = try plan(text, language, arguments, of: table.schema.id)
      do {
        let keys = try RowSearch(plan, in: table).rows()
        let names = className == "Dog" ? ["Rex", "Ida"] : ["A", "B", "C"]
        return keys.isEmpty ? "none" : keys.map { names[Int($0)] }.joined(separator: " ")
      } catch { return "\(error)" }
    } catch {
      switch error.kind {
      case .syntax: return "SE"
      case .invalidQuery: return "IQ"
      case .invalidArgument: return "IA"
      }
    }
  }

  /// Checks that a query finds the objects in its row.
  func check(_ row: BindingRow, _ language: QueryLanguage) throws {
    let outcome = try outcome(row.text, language, row.arguments, of: row.className)
    let error = error(row.text, language, row.arguments)?.description ?? ""
    #expect(outcome == row.expected, "\(row.text) \(error)")
  }

  func plan(
    _ text: String, _ language: QueryLanguage, _ arguments: [QueryArgument] = [], of table: UInt32 = 3
  ) throws(QueryError) -> RowPlan {
    let syntax =
      switch language {
      case .rql: try QueryParser.rql(text)
      case .predicateFormat: try QueryParser.predicateFormat(text, arguments: arguments)
      }
    let binder = QueryBinder(
      names, table: table, language: language, arguments: arguments, text: text,
      object: { table, key in table == 2 ? key == .string("Rex") ? 0 : key == .string("Ida") ? 1 : nil : nil }
    )
    return try binder.plan(syntax)
  }

  func error(
    _ text: String, _ language: QueryLanguage, _ arguments: [QueryArgument] = [], of table: UInt32 = 3
  ) -> QueryError? {
    do throws(QueryError) {
      _ = try plan(text, language, arguments, of: table)
      return nil
    } catch { return error }
  }
}

/// A query and its outcome: the names of the objects that it finds, `none`, or an error as SE, IQ or IA.
struct BindingRow {
  let text: String
  let arguments: [QueryArgument]
  let expected: String
  let className: String

  init(
    _ text: String, _ arguments: [QueryArgument] = [], _ expected: String, of className: String = "Person"
  ) {
    (self.text, self.arguments, self.expected, self.className) = (text, arguments, expected, className)
  }
}

func int(_ number: Int64) -> QueryArgument { .value(.int(number)) }
func text(_ text: String) -> QueryArgument { .value(.string(text)) }
