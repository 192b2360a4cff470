import RealmInterchange
import RealmStorage

/// A command of the lab.
enum LabCommand: Equatable {
  /// Makes a device. With a query, the device shows only what the query finds.
  case make(String, user: String?, query: LabQuery?)
  case copy(String, to: String)
  case connect(String, isOnline: Bool)
  case write(String, LabChange)
  case subscribe(String, LabQuery)
  case unsubscribe(String, table: String)
  /// Syncs the device with this name; nil for all devices.
  case sync(String?)
  case kill(String)
  case rule(LabRule)
  case field(table: String, property: String)
  case trim(isAll: Bool)
  case save(String)
  case restore(String)
  case restart
  case show(ObjectName?)
  case pending(String)
  case dismiss(String)
  case log
  case help
  case quit
}

struct LabQuery: Equatable {
  var table: String
  /// The condition of the query; empty for all objects of the class.
  var predicate: String
}

/// A rule for which objects of a class users may read or write.
struct LabRule: Equatable {
  enum Right: String { case read, write }

  var table: String
  var right: Right
  var predicate: String
}

/// The change that a device makes in one transaction.
enum LabChange: Equatable {
  case create(table: String, [LabProperty])
  case set(ObjectName, [LabProperty])
  case add(ObjectName, property: String, Int64)
  case delete(ObjectName)
  case list(ObjectName, property: String, LabListChange)
}

struct LabProperty: Equatable {
  var name: String
  var value: Value
}

enum LabListChange: Equatable {
  /// Inserts a value at a place, or at the end if the place is nil.
  case insert(Value, at: Int?)
  case move(from: Int, to: Int)
  case remove(Int)
}

/// The words of a command, which are read from left to right.
struct LabWords {
  private var left: ArraySlice<LabToken>
  /// The form in which the command has to be written, for messages.
  var form: String

  init(_ tokens: [LabToken], form: String) { (left, self.form) = (tokens[...], form) }

  var next: LabToken? { left.first }

  func problem(_ what: String) -> LabProblem { LabProblem(what, "Write it as: \(form)") }

  func missing(_ what: String) -> LabProblem {
    guard let next else { return problem("The command ends where \(what) is missing.") }
    return problem("\(next.shown) stands where \(what) is expected.")
  }

  mutating func skip() { left = left.dropFirst() }

  /// Takes the next word if it is `word`.
  ///
  /// - Returns: whether the word was taken.
  mutating func take(_ word: String) -> Bool {
    guard next == .word(word) else { return false }
    skip()
    return true
  }

  mutating func take(mark: Unicode.Scalar) -> Bool {
    guard next == .mark(mark) else { return false }
    skip()
    return true
  }

  mutating func expect(_ word: String) throws(LabProblem) {
    guard take(word) else { throw missing("the word '\(word)'") }
  }

  mutating func expect(mark: Unicode.Scalar) throws(LabProblem) {
    guard take(mark: mark) else { throw missing("a '\(mark)'") }
  }

  mutating func name(_ what: String) throws(LabProblem) -> String {
    guard case .word(let word)? = next else { throw missing(what) }
    skip()
    return word
  }

  mutating func text(_ what: String) throws(LabProblem) -> String {
    guard case .text(let text)? = next else { throw missing("\(what) in quotation marks") }
    skip()
    return text
  }

  mutating func wholeNumber(_ what: String) throws(LabProblem) -> Int64 {
    guard case .number(.int(let number))? = next else { throw missing("\(what), a whole number,") }
    skip()
    return number
  }

  mutating func place(_ what: String) throws(LabProblem) -> Int {
    let number = try wholeNumber(what)
    guard let place = Int(exactly: number) else { throw problem("\(number) is no place in a list.") }
    return place
  }

  mutating func object() throws(LabProblem) -> ObjectName {
    let table = try name("the name of a class")
    switch next {
    case .number(.int(let number))?:
      skip()
      return ObjectName(table, .int(number))
    case .text(let text)?:
      skip()
      return ObjectName(table, .string(text))
    default: throw missing("the key of an object, a whole number or a text,")
    }
  }

  /// Takes a single value, or a list of values in brackets.
  mutating func value() throws(LabProblem) -> Value {
    guard take(mark: "[") else { return try singleValue() }
    var elements: [Value] = []
    if take(mark: "]") { return .list([]) }
    repeat { elements.append(try singleValue()) } while take(mark: ",")
    try expect(mark: "]")
    return .list(elements)
  }

  mutating func singleValue() throws(LabProblem) -> Value {
    let value: Value
    switch next {
    case .text(let text)?: value = .string(text)
    case .number(let number)?: value = number
    case .word("true")?: value = .bool(true)
    case .word("false")?: value = .bool(false)
    case .word("null")?: value = .null
    default: throw missing("a value, such as 5, 1.5, \"text\", true or null,")
    }
    skip()
    return value
  }

  func expectEnd() throws(LabProblem) {
    if let next { throw problem("\(next.shown) stands behind the end of the command.") }
  }
}
