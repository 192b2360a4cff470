/// Measures what Swift itself takes for objects whose properties are wrapped like those of an `Object` and read from
/// plain arrays. Each read of any library takes this time, whatever the library does behind it.
struct ObjectBounds {
  private let columns: PlainColumns
  private let map: MappedProbe

  init(count: Int, folder: String) throws {
    var people: [Person] = []
    var source = PersonSource(count: count)
    while let batch = source.next() { people += batch }
    columns = PlainColumns(people)
    map = try MappedProbe(folder + "/objects", bytes: count * FileShape.bytesPerPerson)
  }

  func all(_ rounds: Int) -> [Bound] {
    [
      Bound(
        "4", "an object that goes through arrays: three wrapped properties read, one a short String", "ns",
        rounds: rounds
      ) {
        walked()
      },
      Bound(
        "3", "an object made for what two reads at random lead to, two wrapped properties read of arrays",
        "ns",
        rounds: rounds
      ) {
        found(1_000_000)
      },
      Bound("3", "the same, each begun when the one before has ended", "ns", rounds: rounds) {
        found(1_000_000, isInTurns: true)
      },
    ]
  }

  /// The time for a lookup that makes a new object, in nanoseconds. The leaf of an index leads to the row, and the row
  /// leads to its values.
  ///
  /// - Parameter isInTurns: no read begins before the values of the read before it are known. This is the case if a
  ///   lookup does more than the processor looks ahead.
  private func found(_ lookups: Int, isInTurns: Bool = false) -> Double {
    var random = SplitMix64(seed: 21)
    let lines = (0..<lookups).map { _ in random.next(below: map.lines) }
    var answer = Answer()
    // This is always 0, but only the values that were read show that.
    var none = 0
    let seconds = Measure.seconds {
      for line in lines {
        let person = PlainPerson(columns)
        person.row = map.next(map.next(line &+ none)) % columns.names.count
        let (name, age) = (person.name, person.age)
        answer.add(name)
        answer.add(age)
        if isInTurns { none = (name.utf8.count &+ Int(age)) >> 32 }
      }
    }
    precondition(answer != Answer())
    return seconds / Double(lookups) * 1e9
  }

  /// The time for each row of an iteration in which one object shows all rows in turn, in nanoseconds.
  private func walked() -> Double {
    var answer = Answer()
    let seconds = Measure.seconds {
      for person in PlainWalk(columns) {
        answer.add(person.name)
        answer.add(person.age)
        answer.add(person.score)
      }
    }
    precondition(answer != Answer())
    return seconds / Double(columns.names.count) * 1e9
  }
}

private final class PlainColumns {
  let names: [String]
  let ages: [Int64]
  let scores: [Double]

  init(_ people: [Person]) {
    names = people.map(\.name)
    ages = people.map(\.age)
    scores = people.map(\.score)
  }
}

/// An object that shows a row of the columns.
private class PlainObject {
  // The reference is not counted when it is used.
  final let columns: Unmanaged<PlainColumns>
  final var row = 0

  init(_ columns: PlainColumns) { self.columns = .passUnretained(columns) }
}

private final class PlainPerson: PlainObject {
  @Plain var name: String
  @Plain var age: Int64
  @Plain var score: Double
}

private struct PlainWalk: Sequence, IteratorProtocol {
  private let person: PlainPerson
  private let count: Int
  private var row = 0

  init(_ columns: PlainColumns) {
    person = PlainPerson(columns)
    count = columns.names.count
  }

  @inline(never)
  mutating func next() -> PlainPerson? {
    guard row < count else { return nil }
    person.row = row
    row += 1
    return person
  }
}

/// A property that has its own value or shows the value of a row.
@propertyWrapper
private struct Plain<Value: PlainValue> {
  private enum Storage {
    case row
    case own(Value)
  }

  private var value = Storage.row

  init() {}

  @available(*, unavailable)
  var wrappedValue: Value {
    get { preconditionFailure() }
    set { preconditionFailure() }
  }

  static subscript<Owner: PlainObject>(
    _enclosingInstance object: Owner, wrapped wrapped: ReferenceWritableKeyPath<Owner, Value>,
    storage storage: ReferenceWritableKeyPath<Owner, Self>
  ) -> Value {
    @inline(__always) get {
      if case .own(let value) = object[keyPath: storage].value { return value }
      return Value.read(object)
    }
    @inline(__always) set { object[keyPath: storage].value = .own(newValue) }
  }
}

private protocol PlainValue {
  static func read(_ object: PlainObject) -> Self
}

extension String: PlainValue {
  @inline(never)
  fileprivate static func read(_ object: PlainObject) -> String {
    object.columns._withUnsafeGuaranteedRef { $0.names[object.row] }
  }
}

extension Int64: PlainValue {
  @inline(never)
  fileprivate static func read(_ object: PlainObject) -> Int64 {
    object.columns._withUnsafeGuaranteedRef { $0.ages[object.row] }
  }
}

extension Double: PlainValue {
  @inline(never)
  fileprivate static func read(_ object: PlainObject) -> Double {
    object.columns._withUnsafeGuaranteedRef { $0.scores[object.row] }
  }
}
