/// The access to the file that a program without knowledge of an attribute or a named slot may have. The numbers are stored in
/// files; never change them.
enum AttributeRule: UInt16, Sendable {
  /// The program may read and write the file. A writer keeps the parts that it does not know.
  case ignorable = 0
  /// The program may read the file, but not write it.
  case knownToWrite = 1
  /// The program may neither read nor write the file.
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

/// The reason why a record can't be read.
enum RecordFault: Error, Equatable {
  /// The record breaks the format.
  case damaged
  /// The record has a feature that this version of the library does not know.
  case unknown(StorageError.Feature)
}

/// A record to which later versions may add attributes. The attributes stand one after another, in ascending
/// order of their numbers.
///
/// An attribute is stored as (FORMAT.md, "Attribute records"):
///
///     size    field
///          2  tag     bits 0–13 the number, bits 14–15 the rule
///     varint  length
///        ...  value   the bytes, as many as `length` says
struct AttributeRecord: Equatable {
  /// The attributes, in ascending order of their numbers.
  private(set) var all: [Attribute]

  static let maximumNumber: UInt16 = 1 << 14 - 1

  /// - Parameter kept: attributes that this version does not know, in ascending order of their numbers.
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

  /// The value of an attribute; nil if it is absent.
  subscript(_ known: some KnownAttribute) -> [UInt8]? {
    all.first { $0.number == known.rawValue }?.value
  }

  /// Adds an attribute.
  ///
  /// - Precondition: the record does not have the attribute.
  mutating func add(_ known: some KnownAttribute, _ value: [UInt8]) {
    let place = all.partitioningIndex { $0.number > known.rawValue }
    all.insert(Attribute(number: known.rawValue, rule: known.rule, value: value), at: place)
  }

  /// The attributes that this version does not know. `Known` has the attributes that it knows in such a record.
  ///
  /// - Parameter owner: the name of the thing that the record describes, for messages.
  /// - Throws: `RecordFault` if an unknown attribute must be known to read the record, or if a known attribute has
  ///   another rule than it should have.
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
  /// Appends the number of the bytes as a varint, and the bytes.
  mutating func appendCounted(_ bytes: [UInt8]) {
    appendVarint(UInt64(bytes.count))
    self += bytes
  }

  /// The integer that the bytes stand for; nil if their number is not the size of the integer.
  func only<Number: FixedWidthInteger & BitwiseCopyable>(_ type: Number.Type) -> Number? {
    count == MemoryLayout<Number>.size ? load(type, at: 0) : nil
  }

  /// The text that the bytes stand for; nil if they are not valid UTF-8.
  var text: String? { String(validating: self, as: UTF8.self) }
}
