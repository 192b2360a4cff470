import RealmQuery
import Testing

@Suite struct Smoke {
  @Test func `a`() throws {
    print(try QueryPrinter.rql(QueryParser.rql("age > 28 and (age < 41 or name ==[c] 'x') sort(age desc)")))
    do { _ = try QueryParser.rql("age > 28 adn name CONTIANS 'x'") } catch { print(error) }
    do { _ = try QueryParser.rql("name CONTIANS 'x'") } catch { print(error) }
  }
}
