/// A test of one value, as `Predicate` describes it.
enum ValueTest {
  case compare(Comparison, Value)
  case text(TextTest)
  case isIn([Value])
  /// The value equals one of many constants, which are sorted.
  case isAmong(SortedValues)
  /// The text equals one of several after folding by their options.
  case isFolded(FoldedTexts)
  case between(Value, Value)
  /// The number of elements of a collection is compared with a number.
  case count(Comparison, Int)

  /// - Parameter ordersNull: see `Comparison.holds`.
  func holds(_ value: Value, ordersNull: Bool) -> Bool {
    switch self {
    case .compare(let comparison, let other): comparison.holds(value, other, ordersNull: ordersNull)
    case .text(let test): test.holds(value)
    case .isIn(let others):
      others.contains { Comparison.equal.holds(value, $0, ordersNull: false) }
    case .isAmong(let others): others.contains(value)
    case .isFolded(let texts): texts.contains(value)
    case .between(let low, let high):
      Comparison.greaterOrEqual.holds(value, low, ordersNull: ordersNull)
        && Comparison.lessOrEqual.holds(value, high, ordersNull: ordersNull)
    case .count(let comparison, let number):
      if let elements = value.elements { comparison.holds(elements.count, number) } else { false }
    }
  }
}

/// Values in the order of sorts, among which a value is looked up that equals another one.
struct SortedValues {
  /// The least number of values that are sorted. Fewer values are compared one after another.
  static let least = 9
  private let values: [Value]

  init(_ values: [Value]) { self.values = values.sorted(by: Value.isBefore) }

  func contains(_ value: Value) -> Bool {
    var (low, high) = (0, values.count)
    while low < high {
      let middle = (low + high) / 2
      if ValueOrder.sort(values[middle], value) < 0 { low = middle + 1 } else { high = middle }
    }
    // Values with the same place in the order are not always equal.
    while low < values.count, ValueOrder.sort(values[low], value) == 0 {
      if ValueOrder.areEqual(values[low], value) { return true }
      low += 1
    }
    return false
  }
}

/// Strings and data after folding by options, among which a value is looked up that equals another one. The result is
/// that of a `TextTest` for each of them.
struct FoldedTexts {
  /// The least number of texts that are put into such a set. Fewer texts are tested one by one.
  static let least = 9

  private let options: TextOptions
  private var strings: Set<[UInt8]> = []
  private var data: Set<[UInt8]> = []
  private var hasNull = false

  init(_ values: some Sequence<Value>, _ options: TextOptions) {
    self.options = options
    for value in values {
      switch value {
      case .null: hasNull = true
      case .string(let text):
        strings.insert(PackedTexts.folded(Array(text.utf8), options.folding(isString: true)))
      case .data(let bytes): data.insert(PackedTexts.folded(bytes, options.folding(isString: false)))
      // Values of other types are no texts.
      default: break
      }
    }
  }

  func contains(_ value: Value) -> Bool {
    switch value {
    case .null: hasNull
    case .string(let text): contains(Array(text.utf8).span.bytes, isString: true)
    case .data(let bytes): contains(bytes.span.bytes, isString: false)
    default: false
    }
  }

  func contains(_ bytes: RawSpan, isString: Bool) -> Bool {
    let folding = options.folding(isString: isString)
    return (isString ? strings : data).contains(PackedTexts.folded(bytes, folding))
  }
}

extension ValueTest {
  var isCount: Bool { if case .count = self { true } else { false } }
}

extension Comparison {
  func holds(_ left: Int, _ right: Int) -> Bool { holds(left < right ? -1 : left == right ? 0 : 1) }
}

/// A test of a string or data, with the constant prepared.
struct TextTest {
  /// The prepared constant; nil if the test finds no value.
  let needle: PackedTexts.Needle?
  /// Whether exactly the values pass that are not found.
  let isNegated: Bool
  let nullPasses: Bool
  private let isString: Bool

  /// Makes a test of values that may be strings or data. It tests the values of the same kind as the constant.
  init(_ match: TextMatch, _ value: Value, _ options: TextOptions) {
    let isString = if case .data = value { false } else { true }
    self.init(match, value, options, isString: isString)
  }

  /// - Parameter isString: true to test strings, false to test data.
  init(_ match: TextMatch, _ value: Value, _ options: TextOptions, isString: Bool) {
    let bytes: [UInt8]? =
      switch value {
      case .string(let text): isString ? Array(text.utf8) : nil
      case .data(let bytes): isString ? nil : bytes
      default: nil
      }
    isNegated = match == .notEqual
    self.isString = isString
    switch match {
    case .equal, .like: nullPasses = value == .null
    case .notEqual: nullPasses = value != .null
    case .contains, .begins, .ends: nullPasses = false
    }
    needle = bytes.map { bytes in
      PackedTexts.Needle(match.needle, bytes, folding: options.folding(isString: isString), isText: isString)
    }
  }

  func holds(_ value: Value) -> Bool {
    switch value {
    case .null: nullPasses
    case .string(let text): isString ? holds(Array(text.utf8)) : isNegated
    case .data(let bytes): isString ? isNegated : holds(bytes)
    default: isNegated
    }
  }

  private func holds(_ bytes: [UInt8]) -> Bool { (needle?.passes(bytes.span.bytes) ?? false) != isNegated }
}

extension TextOptions {
  fileprivate func folding(isString: Bool) -> PackedTexts.Folding {
    guard isString else { return isDisjoint(with: [.ignoringCase, .latin1Case]) ? [] : .latinCase }
    var folding: PackedTexts.Folding =
      contains(.ignoringCase) ? .unicodeCase : contains(.latin1Case) ? .latinCase : []
    if contains(.ignoringDiacritics) { folding.insert(.marks) }
    return folding
  }
}

extension TextMatch {
  fileprivate var needle: PackedTexts.Needle.Match {
    switch self {
    case .equal, .notEqual: .equal
    case .contains: .contains
    case .begins: .begins
    case .ends: .ends
    case .like: .like
    }
  }
}
