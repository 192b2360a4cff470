public import Foundation

/// A BSON value of any type.
///
///     let document: AnyBSON = ["name": "Rex", "age": 3, "tags": ["dog", nil]]
///     document.documentValue?["name"]??.stringValue  // "Rex"
public enum AnyBSON: BSON {
  /// A floating-point number of 64 bits.
  case double(Double)
  /// A text.
  case string(String)
  /// A document: values by keys.
  case document(Document)
  /// An array of values.
  case array([AnyBSON?])
  /// A sequence of bytes.
  case binary(Data)
  /// An object id of 12 bytes.
  case objectId(ObjectId)
  /// A Boolean value.
  case bool(Bool)
  /// A point in time, which BSON stores with a precision of a millisecond.
  case datetime(Date)
  /// A regular expression.
  case regex(NSRegularExpression)
  /// A whole number of 32 bits.
  case int32(Int32)
  /// A point in time for the internal use of databases, which BSON stores with a precision of a second, from 1970 to 2106.
  case timestamp(Date)
  /// A whole number of 64 bits.
  case int64(Int64)
  /// A decimal number of up to 34 digits.
  case decimal128(Decimal128)
  /// A UUID.
  case uuid(UUID)
  /// The value that is sorted before all others.
  case minKey
  /// The value that is sorted after all others.
  case maxKey
  /// No value.
  case null

  /// Makes an `int64` of a whole number.
  public init(_ int: Int) { self = .int64(Int64(int)) }

  /// Makes the case that fits the type of a value: an `Int` becomes an `int64`, a `Date` becomes a `datetime`. A value of a type
  /// that a program made conform to `BSON` becomes `null`.
  public init<T: BSON>(_ bson: T) {
    // Classes come last: Foundation would turn a text or a number into an object to cast it to a class.
    switch bson {
    case let value as AnyBSON: self = value
    case let number as Int: self = .int64(Int64(number))
    case let number as Int32: self = .int32(number)
    case let number as Int64: self = .int64(number)
    case let flag as Bool: self = .bool(flag)
    case let number as Double: self = .double(number)
    case let text as String: self = .string(text)
    case let data as Data: self = .binary(data)
    case let date as Date: self = .datetime(date)
    case let number as Decimal128: self = .decimal128(number)
    case let id as ObjectId: self = .objectId(id)
    case let id as UUID: self = .uuid(id)
    case let document as Document: self = .document(document)
    case let array as [AnyBSON?]: self = .array(array)
    case is MinKey: self = .minKey
    case is MaxKey: self = .maxKey
    case let expression as NSRegularExpression: self = .regex(expression)
    default: self = .null
    }
  }

  // MARK: - What it is

  /// The number of an `int32`; nil for other cases.
  public var int32Value: Int32? { if case .int32(let number) = self { number } else { nil } }
  /// The number of an `int64`; nil for other cases.
  public var int64Value: Int64? { if case .int64(let number) = self { number } else { nil } }
  /// The number of a `double`; nil for other cases.
  public var doubleValue: Double? { if case .double(let number) = self { number } else { nil } }
  /// The number of a `decimal128`; nil for other cases.
  public var decimal128Value: Decimal128? { if case .decimal128(let number) = self { number } else { nil } }
  /// The value of a `bool`; nil for other cases.
  public var boolValue: Bool? { if case .bool(let flag) = self { flag } else { nil } }
  /// The text of a `string`; nil for other cases.
  public var stringValue: String? { if case .string(let text) = self { text } else { nil } }
  /// The bytes of a `binary`; nil for other cases.
  public var binaryValue: Data? { if case .binary(let data) = self { data } else { nil } }
  /// The date of a `datetime`; nil for other cases.
  public var dateValue: Date? { if case .datetime(let date) = self { date } else { nil } }
  /// The date of a `timestamp`; nil for other cases.
  public var timestampValue: Date? { if case .timestamp(let date) = self { date } else { nil } }
  /// The regular expression of a `regex`; nil for other cases.
  public var regexValue: NSRegularExpression? {
    if case .regex(let expression) = self { expression } else { nil }
  }
  /// The id of an `objectId`; nil for other cases.
  public var objectIdValue: ObjectId? { if case .objectId(let id) = self { id } else { nil } }
  /// The UUID of a `uuid`; nil for other cases.
  public var uuidValue: UUID? { if case .uuid(let id) = self { id } else { nil } }
  /// The document of a `document`; nil for other cases.
  public var documentValue: Document? { if case .document(let document) = self { document } else { nil } }
  /// The elements of an `array`; nil for other cases.
  public var arrayValue: [AnyBSON?]? { if case .array(let values) = self { values } else { nil } }
  /// Whether the value is `null`.
  public var isNull: Bool { if case .null = self { true } else { false } }
}

// The conformance is not synthesized, because regular expressions are compared by their patterns and options on every system, and
// not as objects.
extension AnyBSON: Hashable {
  /// Whether both values have the same case and equal contents. Regular expressions are equal if their patterns and options are.
  public static func == (left: AnyBSON, right: AnyBSON) -> Bool {
    switch (left, right) {
    case (.double(let left), .double(let right)): left == right
    case (.string(let left), .string(let right)): left == right
    case (.document(let left), .document(let right)): left == right
    case (.array(let left), .array(let right)): left == right
    case (.binary(let left), .binary(let right)): left == right
    case (.objectId(let left), .objectId(let right)): left == right
    case (.bool(let left), .bool(let right)): left == right
    case (.datetime(let left), .datetime(let right)): left == right
    case (.regex(let left), .regex(let right)):
      left.pattern == right.pattern && left.options.rawValue == right.options.rawValue
    case (.int32(let left), .int32(let right)): left == right
    case (.timestamp(let left), .timestamp(let right)): left == right
    case (.int64(let left), .int64(let right)): left == right
    case (.decimal128(let left), .decimal128(let right)): left == right
    case (.uuid(let left), .uuid(let right)): left == right
    case (.minKey, .minKey), (.maxKey, .maxKey), (.null, .null): true
    default: false
    }
  }

  public func hash(into hasher: inout Hasher) {
    switch self {
    case .double(let number): hasher.combine(number)
    case .string(let text): hasher.combine(text)
    case .document(let document): hasher.combine(document)
    case .array(let values): hasher.combine(values)
    case .binary(let data): hasher.combine(data)
    case .objectId(let id): hasher.combine(id)
    case .bool(let flag): hasher.combine(flag)
    case .datetime(let date), .timestamp(let date): hasher.combine(date)
    case .regex(let expression): hasher.combine(expression.pattern)
    case .int32(let number): hasher.combine(number)
    case .int64(let number): hasher.combine(number)
    case .decimal128(let number): hasher.combine(number)
    case .uuid(let id): hasher.combine(id)
    case .minKey: hasher.combine(1)
    case .maxKey: hasher.combine(2)
    case .null: hasher.combine(3)
    }
  }
}
