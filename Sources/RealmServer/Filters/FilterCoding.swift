import RealmStorage

/// The bytes of filters (FORMAT.md, "The state of a server"). Numbers are varints, texts their length and bytes.
extension AccessRules {
  init?(_ reader: inout ByteReader) {
    guard let read = ClassFilters(&reader), let write = ClassFilters(&reader) else { return nil }
    self.init(read: read, write: write)
  }

  func append(to bytes: inout [UInt8]) {
    read.append(to: &bytes)
    write.append(to: &bytes)
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
  private enum Tag {
    static let value: UInt8 = 0
    static let userID: UInt8 = 1
    static let partition: UInt8 = 2
  }

  init?(_ reader: inout ByteReader) {
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
    guard let field = reader.text(), let comparison = reader.integer(UInt8.self).flatMap(Comparison.init),
      let count = reader.varint(), count <= UInt64(reader.count)
    else { return nil }
    var operands: [Operand] = []
    for _ in 0..<count {
      switch reader.integer(UInt8.self) {
      case Tag.value?:
        guard let value = ValueCoding.mixed(&reader, levels: 0) else { return nil }
        operands.append(.value(value))
      case Tag.userID?: operands.append(.userID)
      case Tag.partition?: operands.append(.partition)
      default: return nil
      }
    }
    return Condition(field, comparison, operands)
  }

  func append(to bytes: inout [UInt8]) {
    bytes.appendVarint(UInt64(terms.count))
    for term in terms {
      bytes.appendVarint(UInt64(term.count))
      for condition in term {
        ValueCoding.append(condition.field, to: &bytes)
        bytes.append(condition.comparison.rawValue)
        bytes.appendVarint(UInt64(condition.operands.count))
        for operand in condition.operands {
          switch operand {
          case .value(let value):
            bytes.append(Tag.value)
            ValueCoding.appendMixed(value, to: &bytes)
          case .userID: bytes.append(Tag.userID)
          case .partition: bytes.append(Tag.partition)
          }
        }
      }
    }
  }
}
