public import Foundation

/// A value of BSON, of any type.
///
///     let document: AnyBSON = ["name": "Rex", "age": 3, "tags": ["dog", nil]]
///     document.documentValue?["name"]??.stringValue  // "Rex"
public enum AnyBSON: BSON {
  /// A number of 64 bits with a fraction.
  case double(Double)
  /// A text.
  case string(String)
  /// Values by keys.
  case document(Document)
  /// Values in order.
  case array([AnyBSON?])
  /// Bytes.
  case binary(Data)
  /// An id of 12 bytes.
  case objectId(ObjectId)
  /// A truth value.
  case bool(Bool)
  /// A moment, which BSON keeps to the millisecond.
  case datetime(Date)
  /// A regular expression.
  case regex(NSRegularExpression)
  /// A whole number of 32 bits.
  case int32(Int32)
  /// A moment of a database's log, which BSON keeps to the second, from 1970 to 2106.
  case timestamp(Date)
  /// A whole number of 64 bits.
  case int64(Int64)
  /// A decimal of 34 digits.
  case decimal128(Decimal128)
  /// A UUID.
  case uuid(UUID)
  /// The value that comes before all others.
  case minKey
  /// The value that comes behind all others.
  case maxKey
  /// No value.
  case null

  /// A whole number, as `int64`.
  public init(_ int: Int) { self = .int64(Int64(int)) }

  /// The value as the case of its type: an `Int` as `int64`, a `Date` as `datetime`. A value of a type that an app made
  /// conform to `BSON` becomes `null`.
  public init<T: BSON>(_ bson: T) {
    // Classes come last: Foundation would make an object of a text or a number, to cast it to a class.
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

  /// The number; nil of what is no `int32`.
  public var int32Value: Int32? { if case .int32(let number) = self { number } else { nil } }
  /// The number; nil of what is no `int64`.
  public var int64Value: Int64? { if case .int64(let number) = self { number } else { nil } }
  /// The number; nil of what is no `double`.
  public var doubleValue: Double? { if case .double(let number) = self { number } else { nil } }
  /// The number; nil of what is no `decimal128`.
  public var decimal128Value: Decimal128? { if case .decimal128(let number) = self { number } else { nil } }
  /// The truth value; nil of what is no `bool`.
  public var boolValue: Bool? { if case .bool(let flag) = self { flag } else { nil } }
  /// The text; nil of what is no `string`.
  public var stringValue: String? { if case .string(let text) = self { text } else { nil } }
  /// The bytes; nil of what is no `binary`.
  public var binaryValue: Data? { if case .binary(let data) = self { data } else { nil } }
  /// The moment; nil of what is no `datetime`.
  public var dateValue: Date? { if case .datetime(let date) = self { date } else { nil } }
  /// The moment; nil of what is no `timestamp`.
  public var timestampValue: Date? { if case .timestamp(let date) = self { date } else { nil } }
  /// The regular expression; nil of what is no `regex`.
  public var regexValue: NSRegularExpression? {
    if case .regex(let expression) = self { expression } else { nil }
  }
  /// The id; nil of what is no `objectId`.
  public var objectIdValue: ObjectId? { if case .objectId(let id) = self { id } else { nil } }
  /// The UUID; nil of what is no `uuid`.
  public var uuidValue: UUID? { if case .uuid(let id) = self { id } else { nil } }
  /// The document; nil of what is no `document`.
  public var documentValue: Document? { if case .document(let document) = self { document } else { nil } }
  /// The values; nil of what is no `array`.
  public var arrayValue: [AnyBSON?]? { if case .array(let values) = self { values } else { nil } }
  /// Whether it is `null`.
  public var isNull: Bool { if case .null = self { true } else { false } }
}

// By hand: regular expressions are equal by what they say on every system, and not as objects.
extension AnyBSON: Hashable {
  /// Whether both are of one case and hold equal values. Regular expressions are equal where their patterns and their options are.
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
