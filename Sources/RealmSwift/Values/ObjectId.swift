public import Foundation
public import RealmStorage
import Synchronization

/// A name for an object that no other one has, made without asking anybody: 12 bytes, of which the first four are the
/// second it was made in.
///
/// In a file, in queries and in sorts ids are ordered by their bytes, so that later ones come behind earlier ones.
public struct ObjectId: Sendable, Hashable {
  let bytes: ObjectIDBytes

  init(bytes: ObjectIDBytes) { self.bytes = bytes }

  /// The id whose bytes are all zero. `generate()` makes a new one.
  public init() { bytes = ObjectIDBytes(high: 0, low: 0) }

  /// The id that a text of 24 hexadecimal digits names.
  ///
  /// - Throws: `Realm.Error.invalidInput` where the text is none.
  public init(string: String) throws {
    guard let bytes = Self.bytes(of: string) else {
      throw Realm.Error(
        .invalidInput, "'\(string)' names no ObjectId: it takes 24 hexadecimal digits, and nothing else.")
    }
    self.bytes = bytes
  }

  /// The id that a text written in the program names; another text than 24 hexadecimal digits stops the program.
  public init(_ string: StaticString) {
    guard let bytes = Self.bytes(of: string.description) else {
      raise(
        "Invalid ObjectId",
        "'\(string)' names no ObjectId: it takes 24 hexadecimal digits; ObjectId(string:) throws for others.")
    }
    self.bytes = bytes
  }

  /// A new id of some moment, of a machine (3 bytes count) and of a process on it (2 bytes count).
  ///
  /// A moment before 1970 counts as 1970, one after 2106 as 2106.
  public init(timestamp: Date, machineId: Int, processId: Int) {
    let machine = UInt64(truncatingIfNeeded: machineId) & 0xff_ffff
    let random = machine << 16 | UInt64(truncatingIfNeeded: processId) & 0xffff
    bytes = ObjectIdMaker.bytes(
      seconds: Self.seconds(of: timestamp), random: random,
      counter: ObjectIdMaker.shared.withLock { $0.nextCounter() })
  }

  /// A new id: greater than all that this process made before.
  public static func generate() -> ObjectId {
    let now = seconds(of: Date())
    return ObjectId(bytes: ObjectIdMaker.shared.withLock { $0.next(now) })
  }

  /// When it was made, to the second.
  public var timestamp: Date { Date(timeIntervalSince1970: Double(bytes.high >> 32)) }

  /// Its bytes as 24 hexadecimal digits, the small letters among them.
  public var stringValue: String {
    let digits = Array("0123456789abcdef".utf8)
    return String(
      decoding: bytes.bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }

  private static func seconds(of date: Date) -> UInt32 {
    let interval = date.timeIntervalSince1970
    return interval > 0 ? UInt32(exactly: min(interval, Double(UInt32.max)).rounded(.down)) ?? 0 : 0
  }

  private static func bytes(of text: String) -> ObjectIDBytes? {
    guard text.utf8.count == 24 else { return nil }
    var (high, low): (UInt64, UInt32) = (0, 0)
    for (place, character) in text.utf8.enumerated() {
      let digit: UInt8
      switch character {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = character - UInt8(ascii: "0")
      case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = character - UInt8(ascii: "a") + 10
      case UInt8(ascii: "A")...UInt8(ascii: "F"): digit = character - UInt8(ascii: "A") + 10
      default: return nil
      }
      if place < 16 { high = high << 4 | UInt64(digit) } else { low = low << 4 | UInt32(digit) }
    }
    return ObjectIDBytes(high: high, low: low)
  }
}

/// What the ids that a process makes have in common, and where they are in counting.
private struct ObjectIdMaker {
  static let shared = Mutex(ObjectIdMaker())

  /// A forked child must not go on where its parent does.
  private var process = ProcessInfo.processInfo.processIdentifier
  private var random = UInt64.random(in: 0..<1 << 40)
  private var seconds: UInt32 = 0
  private var counter = Self.start()
  /// Of ids whose second is given, which must not touch the order of the others.
  private var given = Self.start()

  /// From the lower half on: there is room to count.
  private static func start() -> UInt32 { UInt32.random(in: 0..<1 << 23) }

  mutating func next(_ now: UInt32) -> ObjectIDBytes {
    renewInChild()
    if now > seconds {
      seconds = now
      counter = Self.start()
    } else if counter == 0xff_ffff {
      // Sixteen millions in one second: those behind them are of the next one.
      seconds &+= 1
      counter = 0
    } else {
      counter += 1
    }
    return Self.bytes(seconds: seconds, random: random, counter: counter)
  }

  mutating func nextCounter() -> UInt32 {
    renewInChild()
    given = given == 0xff_ffff ? 0 : given + 1
    return given
  }

  private mutating func renewInChild() {
    let current = ProcessInfo.processInfo.processIdentifier
    guard current != process else { return }
    self = ObjectIdMaker()
  }

  static func bytes(seconds: UInt32, random: UInt64, counter: UInt32) -> ObjectIDBytes {
    ObjectIDBytes(
      high: UInt64(seconds) << 32 | random >> 8, low: UInt32(truncatingIfNeeded: random) << 24 | counter)
  }
}

extension ObjectId: Comparable {
  public static func < (left: ObjectId, right: ObjectId) -> Bool {
    (left.bytes.high, left.bytes.low) < (right.bytes.high, right.bytes.low)
  }

  /// Whether it comes behind another.
  public func isGreaterThan(_ other: ObjectId) -> Bool { self > other }
  /// Whether it comes behind another, or is the same.
  public func isGreaterThanOrEqual(to other: ObjectId) -> Bool { self >= other }
  /// Whether it comes before another.
  public func isLessThan(_ other: ObjectId) -> Bool { self < other }
  /// Whether it comes before another, or is the same.
  public func isLessThanOrEqual(to other: ObjectId) -> Bool { self <= other }
}

extension ObjectId: CustomStringConvertible {
  /// The same as `stringValue`.
  public var description: String { stringValue }
}

extension ObjectId: Codable {
  /// From a text of 24 hexadecimal digits.
  ///
  /// - Throws: `Realm.Error.invalidInput` where the text is none; what the decoder throws.
  public init(from decoder: any Decoder) throws {
    try self.init(string: decoder.singleValueContainer().decode(String.self))
  }

  /// As a text of 24 hexadecimal digits.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(stringValue)
  }
}

extension ObjectId: _Scalar, _Indexable, _PrimaryKey, SortableType {
  public typealias PersistedType = ObjectId
  public static var _column: ColumnType { .objectID }
  public static func _initial() -> ObjectId { generate() }
  public static var _isNewEachTime: Bool { true }
  public static func _load(_ value: Value) -> ObjectId? {
    guard case .objectID(let bytes) = value else { return nil }
    return ObjectId(bytes: bytes)
  }
  public var _value: Value { .objectID(bytes) }
  public static func _converted(_ any: Any) -> ObjectId? { any as? ObjectId }
}
