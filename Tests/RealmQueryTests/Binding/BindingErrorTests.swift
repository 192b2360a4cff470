import RealmQuery
import RealmStorage
import RealmTestSupport
import Testing

@Suite struct BindingErrorTests {
  private let fixture: BindingFixture

  init() throws { fixture = try BindingFixture() }

  @Test func `a misspelt property is shown with a caret, its class and the nearest name`() {
    #expect(
      fixture.error("age > 3 and nmae == 'x'", .rql)?.description == """
        Invalid query: `Person` has no property `nmae`.
          age > 3 and nmae == 'x'
                      ^~~~
        Did you mean `name`?
        """)
    #expect(
      fixture.error("dog.aeg == 1", .predicateFormat)?.description == """
        Invalid query: `Dog` has no property `aeg`.
          dog.aeg == 1
          ^~~~~~~
        Did you mean `age`?
        """)
  }

  @Test func `an error about a misspelt class suggests the nearest name`() {
    #expect(fixture.error("@links.Persn.dogs.@count == 1", .rql, of: 2)?.suggestion == "Person")
    #expect(fixture.error("dog == obj('Dgo', 1)", .rql)?.suggestion == "Dog")
    #expect(fixture.error("@links.Person.dgos.@count == 1", .rql, of: 2)?.suggestion == "dogs")
    #expect(fixture.error("mix.@type == 'strng'", .rql)?.suggestion == "string")
  }

  @Test func `a value that does not fit is an error that names the class, the property and the type`() throws
  {
    let error = try #require(fixture.error("age == %@", .predicateFormat, [text("x")]))
    #expect(error.kind == .invalidArgument)
    #expect(error.message == "`Person.age` takes an integer, and this value is none")
    #expect(error.range == 7..<9)
    let other = try #require(fixture.error("dog.name == 5", .rql))
    #expect(other.message == "`Dog.name` is a string, which does not compare with this value")
  }

  @Test func `an error about a query without a text has no excerpt`() throws {
    let syntax = try QueryParser.rql("nope == 1")
    let error = #expect(throws: QueryError.self) {
      try QueryBinder(fixture.names, table: 3, language: .rql).predicate(syntax)
    }
    #expect(error?.excerpt == nil)
    #expect(error?.description == "Invalid query: `Person` has no property `nope`.")
  }

  @Test func `a condition alone has no descriptors, and a missing table has no conditions`() throws {
    let sorted = try QueryParser.rql("age > 1 SORT(age ASC)")
    #expect(throws: QueryError.self) {
      try QueryBinder(fixture.names, table: 3, language: .rql).predicate(sorted)
    }
    #expect(throws: QueryError.self) {
      try QueryBinder(fixture.names, table: 99, language: .rql).predicate(try QueryParser.rql("age > 1"))
    }
  }

  @Test func `names besides the stored ones are followed, and a circle of names is an error`() throws {
    let schemas = try fixture.snapshot.schemas()
    let names = QueryNames(
      tables: schemas,
      aliases: [
        3: ["years": "old", "old": "age", "a": "b", "b": "a", "nick": "name", "name": "nick", "x": "nope"]
      ],
      inverses: [:], classes: ["Human": 3])
    func rows(_ text: String) throws -> [UInt64] {
      let plan = try QueryBinder(names, table: 3, language: .rql).plan(try QueryParser.rql(text))
      return try RowSearch(plan, in: try #require(try fixture.snapshot.table("Person"))).rows()
    }
    #expect(try rows("years == 30") == [0])
    #expect(try rows("nick == 'Ann' and name == null") == [0])
    #expect(throws: QueryError.self) { try rows("a == 1") }
    #expect(throws: QueryError.self) { try rows("x == 1") }
    #expect(names.table(named: "Human")?.id == 3)
    #expect(names.table(named: "Person")?.id == 3)
    #expect(names.table(id: 2)?.name == "Dog")
    #expect(names.table(named: "Cat") == nil)
  }
}
