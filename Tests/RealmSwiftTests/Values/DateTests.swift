import Foundation
import RealmSwift
import RealmTestSupport
import Testing

class Event: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted(indexed: true) var at: Date
  @Persisted var end: Date?
  @Persisted var list: List<Date>
  @Persisted var optionals: List<Date?>
  @Persisted var set: MutableSet<Date>
  @Persisted var map: Map<String, Date>
  @Persisted var any: AnyRealmValue
}

/// Random dates from the year 1 to 9999, with many different distances from the beginning of 2001.
private struct RandomDates {
  private static let years = -63_114_076_800.0..<252_455_616_000.0
  /// A `Date` that is nearer to the beginning of 2001 than this is finer than a nanosecond.
  static let finest = 0x1p23
  var generator: SeededGenerator

  mutating func next() -> Date {
    while true {
      let magnitude = 23 + generator.below(16)
      let distance =
        Double.random(in: 1..<2, using: &generator) * Double(sign: .plus, exponent: magnitude, significand: 1)
      let interval = generator.chance(50) ? distance : -distance
      if Self.years.contains(interval) { return Date(timeIntervalSinceReferenceDate: interval) }
    }
  }
}

@Suite struct DateTests {
  private func realm() throws -> Realm { try memoryRealm([Event.self, Dog.self, Person.self]) }

  @Test(arguments: [UInt64(1), .random(in: 0...(.max))])
  func `a date of any year is read as it was written, in each kind of property`(seed: UInt64) throws {
    var random = RandomDates(generator: SeededGenerator(seed: seed))
    let realm = try realm()
    let dates = (0..<400).map { _ in random.next() }
    try realm.write {
      for (id, date) in dates.enumerated() {
        let event = realm.create(Event.self, value: ["id": id, "at": date, "any": date] as [String: Any])
        event.end = date
        event.list.append(date)
        event.optionals.append(objectsIn: [nil, date])
        event.set.insert(date)
        event.map["a"] = date
      }
    }
    for (id, date) in dates.enumerated() {
      let event = try #require(realm.object(ofType: Event.self, forPrimaryKey: id))
      #expect(event.at == date && event.end == date && event.any == .date(date), "seed \(seed)")
      #expect(event.list.first == date && event.optionals.last == .some(date) && event.map["a"] == date)
      #expect(
        event.set.contains(date) && event.list.index(of: date) == 0 && event.optionals.index(of: date) == 1)
      let same = Set(dates.indices.filter { dates[$0] == date })
      #expect(Set(realm.objects(Event.self).where { $0.at == date }.map(\.id)) == same, "by the index")
      #expect(Set(realm.objects(Event.self).where { $0.end == date }.map(\.id)) == same, "without an index")
    }
    let events = realm.objects(Event.self)
    #expect(events.max(of: \.at) == dates.max() && events.min(of: \.end) == dates.min())
    #expect(events.sorted(by: \.at).map(\.at) == dates.sorted())
  }

  @Test func `the current time is read as it was written`() throws {
    let realm = try realm()
    let event = try realm.write { realm.create(Event.self, value: ["id": 1]) }
    for _ in 0..<300 {
      let now = Date()
      try realm.write { event.at = now }
      #expect(event.at == now && realm.objects(Event.self).where { $0.at == now }.count == 1)
    }
  }

  @Test(arguments: [UInt64(1), 12_548_749_439_957_598_175, .random(in: 0...(.max))])
  func `near the beginning of 2001 dates are stored to the nanosecond`(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let realm = try realm()
    let event = try realm.write { realm.create(Event.self, value: ["id": 1]) }
    realm.beginWrite()
    for _ in 0..<2000 {
      let interval = Double.random(in: -RandomDates.finest..<RandomDates.finest, using: &generator)
      let exact = Date(timeIntervalSinceReferenceDate: interval)
      event.at = exact
      let stored = event.at
      #expect(abs(stored.timeIntervalSince(exact)) <= 1e-9, "seed \(seed)")
      event.end = stored
      #expect(event.end == stored, "what is stored is stored again")
      let micros = Date(timeIntervalSinceReferenceDate: (interval * 1_000_000).rounded() / 1_000_000)
      event.at = micros
      #expect(event.at == micros, "seed \(seed)")
      // The date is seconds away from 2001, where the parts of a date are rounded separately.
      let near = Date(timeIntervalSinceReferenceDate: (interval / 100_000 * 1_000_000).rounded() / 1_000_000)
      event.at = near
      #expect(event.at == near, "seed \(seed)")
    }
    for interval in [0, -0.0, 0.1, -0.1, -1, -1.5, 1e-9, -1e-9, 0.999999999, -0.999999999] {
      event.at = Date(timeIntervalSinceReferenceDate: interval)
      #expect(event.at.timeIntervalSinceReferenceDate == interval)
    }
    try realm.commitWrite()
  }

  @Test func `dates outside of the range become the nearest date in it, and NaN becomes 1970`() throws {
    let realm = try realm()
    let event = try realm.write { realm.create(Event.self, value: ["id": 1]) }
    func stored(_ interval: Double) throws -> Double {
      try realm.write { event.at = Date(timeIntervalSinceReferenceDate: interval) }
      return event.at.timeIntervalSinceReferenceDate
    }
    #expect(try stored(.nan) == -978_307_200)
    #expect(try stored(.infinity) > 9.2e18 && stored(1e300) == stored(.infinity))
    #expect(try stored(-.infinity) < -9.2e18 && stored(-1e300) == stored(-.infinity))
    #expect(
      try stored(9.223372036854775e18) == stored(.infinity), "whole seconds since 1970 are beyond 64 bits")
    for date in [Date.distantPast, .distantFuture] {
      #expect(try stored(date.timeIntervalSinceReferenceDate) == date.timeIntervalSinceReferenceDate)
    }
  }

  @Test("Dates out of range and values that are not dates are stored as the nearest valid date")
  func dates() throws {
    let realm = try memoryRealm()
    for interval in [1e300, -1e300, .infinity, -.infinity, .nan, 9.3e18, -9.3e18, -0.5, 1e15 + 0.25] {
      try realm.write {
        let object = realm.create(Everything.self, value: ["date": Date(timeIntervalSince1970: interval)])
        let read = object.date.timeIntervalSince1970
        if interval.isNaN { #expect(read == 0) }
        if abs(interval) < 1e16 { #expect(read == interval) }
        if interval > 1e17 { #expect(read > 9e18) }
        if interval < -1e17 { #expect(read < -9e18) }
        #expect(object.description.contains("date = "))
      }
    }
    let dates = realm.objects(Everything.self)
    #expect(dates.where { $0.date > Date(timeIntervalSince1970: .infinity) }.isEmpty)
    #expect(dates.sorted(byKeyPath: "date").count == 9)
    #expect(dates.max(of: \.date)!.timeIntervalSince1970 > 9e18)
  }
}
