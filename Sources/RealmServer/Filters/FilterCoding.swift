import RealmStorage

/// The bytes of filters (FORMAT.md, "The state of a server"). Numbers are varints, and a text is its length and its
/// bytes.
extension AccessRules {
  init?(_ reader: inout ByteReader) {
    guard let read = ClassFilters(&reader), let write = ClassFilters(&reader),
      let insert = ClassFilters(&reader), let delete = ClassFilters(&reader)
    else { return nil }
    self.init(read: read, write: write, insert: insert, delete: delete)
  }

  func append(to bytes: inout [UInt8]) {
    for filters in [read, write, insert, delete] { filters.append(to: &bytes) }
  }
}

extension ClassFilters {
  init?(_ reader: inout ByteReader) {
    guard let others = FieldFilter(&reader), let count = reader.varint(), count <= UInt64(reader.count) else {
      return nil
    }
    self.init(others: others)
    for _ in 0..<count {
      guard let name = reader.text(), let filter = FieldFilter(&reader) else { return nil }
      byClass[name] = filter
    }
  }

  func append(to bytes: inout [UInt8]) {
    others.append(to: &bytes)
    bytes.appendVarint(UInt64(byClass.count))
    for (name, filter) in byClass.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
      ValueCoding.append(name, to: &bytes)
      filter.append(to: &bytes)
    }
  }
}

extension FieldFilter {
  fileprivate enum Tag {
    /// The tags of subjects.
    static let field: UInt8 = 0
    static let userSubject: UInt8 = 1
    /// The tags of operands.
    static let value: UInt8 = 0
    static let user: UInt8 = 1
    static let partition: UInt8 = 2
  }

  /// Reads a filter. The result is nil if the bytes are not those of a filter.
  package init?(_ reader: inout ByteReader) {
    guard let count = reader.varint(), count <= UInt64(Self.mostTerms) else { return nil }
    self.init(terms: [])
    for _ in 0..<count {
      guard let conditions = reader.varint(), conditions <= UInt64(reader.count) else { return nil }
      var term: [Condition] = []
      for _ in 0..<conditions {
        guard let condition = Self.condition(&reader) else { return nil }
        term.append(condition)
      }
      terms.append(term)
    }
  }

  private static func condition(_ reader: inout ByteReader) -> Condition? {
    guard let subject = subject(&reader),
      let comparison = reader.integer(UInt8.self).flatMap(Comparison.init),
      let count = reader.varint(), count <= UInt64(reader.count)
    else { return nil }
    var operands: [Operand] = []
    for _ in 0..<count {
      guard let operand = operand(&reader) else { return nil }
      operands.append(operand)
    }
    return Condition(subject, comparison, operands)
  }

  private static func subject(_ reader: inout ByteReader) -> Subject? {
    switch reader.integer(UInt8.self) {
    case Tag.field?: reader.text().map { .field($0) }
    case Tag.userSubject?: reader.text().map { .user($0) }
    default: nil
    }
  }

  private static func operand(_ reader: inout ByteReader) -> Operand? {
    switch reader.integer(UInt8.self) {
    case Tag.value?: ValueCoding.mixed(&reader, levels: 0).map { .value($0) }
    case Tag.user?: reader.text().map { .user($0) }
    case Tag.partition?: .partition
    default: nil
    }
  }

  package func append(to bytes: inout [UInt8]) {
    bytes.appendVarint(UInt64(terms.count))
    for term in terms {
      bytes.appendVarint(UInt64(term.count))
      for condition in term { condition.append(to: &bytes) }
    }
  }
}

extension FieldFilter.Condition {
  func append(to bytes: inout [UInt8]) {
    switch subject {
    case .field(let name):
      bytes.append(FieldFilter.Tag.field)
      ValueCoding.append(name, to: &bytes)
    case .user(let name):
      bytes.append(FieldFilter.Tag.userSubject)
      ValueCoding.append(name, to: &bytes)
    }
    bytes.append(comparison.rawValue)
    bytes.appendVarint(UInt64(operands.count))
    for operand in operands {
      switch operand {
      case .value(let value):
        bytes.append(FieldFilter.Tag.value)
        ValueCoding.appendMixed(value, to: &bytes)
      case .user(let name):
        bytes.append(FieldFilter.Tag.user)
        ValueCoding.append(name, to: &bytes)
      case .partition: bytes.append(FieldFilter.Tag.partition)
      }
    }
  }
}
