/// What who does not know an attribute, or a named slot, may do with the file all the same. Stored on disk, never renumber.
enum AttributeRule: UInt16, Sendable {
  /// Read and write it. A writer keeps what it does not know.
  case ignorable = 0
  /// Read the file, and not write it.
  case knownToWrite = 1
  /// Neither.
  case knownToRead = 2
}

/// A numbered part of a record.
struct Attribute: Hashable, Sendable {
  let number: UInt16
  let rule: AttributeRule
  let value: [UInt8]
}

/// An attribute that this version of the library knows.
protocol KnownAttribute: RawRepresentable<UInt16> {
  var rule: AttributeRule { get }
}

/// Why a record can't be read.
enum RecordFault: Error, Equatable {
  /// It breaks the format.
  case damaged
  /// It has something that this version of the library does not know.
  case unknown(StorageError.Feature)
}

/// A record that later versions may add to: attributes one after another, by growing numbers.
///
/// An attribute is stored as (FORMAT.md, "Attribute records"):
///
///     size    field
///          2  tag     bits 0–13 the number, bits 14–15 the rule
///     varint  length
///        ...  value   so many bytes
struct AttributeRecord: Equatable {
  /// By growing numbers.
  private(set) var all: [Attribute]

  static let maximumNumber: UInt16 = 1 << 14 - 1

  /// - Parameter kept: attributes that this version does not know, by growing numbers.
  init(keeping kept: [Attribute] = []) { all = kept }

  init(_ bytes: some Sequence<UInt8>) throws(RecordFault) {
    var reader = ByteReader(Array(bytes))
    all = []
    while !reader.isAtEnd {
      guard let tag = reader.integer(UInt16.self), let rule = AttributeRule(rawValue: tag >> 14),
        let value = reader.counted()
      else { throw .damaged }
      let number = tag & Self.maximumNumber
      if let last = all.last, last.number >= number { throw .damaged }
      all.append(Attribute(number: number, rule: rule, value: Array(value)))
    }
  }

  var encoded: [UInt8] {
    var bytes: [UInt8] = []
    for attribute in all {
      bytes.appendInteger(attribute.number | attribute.rule.rawValue << 14)
      bytes.appendCounted(attribute.value)
    }
    return bytes
  }

  /// The bytes of an attribute; nil where it is absent.
  subscript(_ known: some KnownAttribute) -> [UInt8]? {
    all.first { $0.number == known.rawValue }?.value
  }

  /// Adds an attribute, which is not there.
  mutating func add(_ known: some KnownAttribute, _ value: [UInt8]) {
    let place = all.partitioningIndex { $0.number > known.rawValue }
    all.insert(Attribute(number: known.rawValue, rule: known.rule, value: value), at: place)
  }

  /// The attributes that this version does not know, of a record whose attributes it knows as `Known`.
  ///
  /// - Parameter owner: what the record is of, for messages.
  /// - Throws: where one of them must be known to read the record, or a known one has another rule than it is to have.
  func unknown<Known: KnownAttribute>(
    to known: Known.Type, of owner: String
  ) throws(RecordFault) -> [Attribute] {
    var unknown: [Attribute] = []
    for attribute in all {
      if let known = Known(rawValue: attribute.number) {
        guard known.rule == attribute.rule else { throw .damaged }
        continue
      }
      if attribute.rule == .knownToRead { throw .unknown(attribute.feature(of: owner, need: .read)) }
      unknown.append(attribute)
    }
    return unknown
  }
}

extension Attribute {
  func feature(of owner: String, need: StorageError.Feature.Need) -> StorageError.Feature {
    StorageError.Feature("attribute \(number)", of: owner, need: need)
  }
}

extension [UInt8] {
  /// Appends a count as a varint, and so many bytes.
  mutating func appendCounted(_ bytes: [UInt8]) {
    appendVarint(UInt64(bytes.count))
    self += bytes
  }

  /// The integer that the bytes are; nil where they are more or fewer than it has.
  func only<Number: FixedWidthInteger & BitwiseCopyable>(_ type: Number.Type) -> Number? {
    count == MemoryLayout<Number>.size ? load(type, at: 0) : nil
  }

  /// The text that the bytes are; nil where they are no UTF-8.
  var text: String? { String(validating: self, as: UTF8.self) }
}
