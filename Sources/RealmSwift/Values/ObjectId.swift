public import Foundation
public import RealmStorage
import Synchronization

/// An id of 12 bytes that is unique without a central registry. The first four bytes are the second in which it was made; the
/// rest are a random number of the process and a counter.
///
/// Ids are ordered by their bytes, in files, queries and sorts, so an id that was made in a later second comes after one of
/// an earlier second.
public struct ObjectId: Sendable, Hashable {
  let bytes: ObjectIDBytes

  init(bytes: ObjectIDBytes) { self.bytes = bytes }

  /// Makes the id whose bytes are all zero. `generate()` makes a new id.
  public init() { bytes = ObjectIDBytes(high: 0, low: 0) }

  /// Makes the id that a text of 24 hexadecimal digits names.
  ///
  /// - Throws: `Realm.Error.invalidInput` if the text is not 24 hexadecimal digits.
  public init(string: String) throws {
    guard let bytes = Self.bytes(of: string) else {
      throw Realm.Error(
        .invalidInput, "'\(string)' names no ObjectId: it takes 24 hexadecimal digits, and nothing else.")
    }
    self.bytes = bytes
  }

  /// Makes the id that a text literal of 24 hexadecimal digits names. Another text stops the program.
  public init(_ string: StaticString) {
    guard let bytes = Self.bytes(of: string.description) else {
      raise(
        "Invalid ObjectId",
        "'\(string)' names no ObjectId: it takes 24 hexadecimal digits; ObjectId(string:) throws for others.")
    }
    self.bytes = bytes
  }

  /// Makes a new id of given parts and a counter.
  ///
  /// - Parameters:
  ///   - timestamp: the moment, which is stored in whole seconds. A moment before 1970 counts as 1970, and one after the year
  ///     2106 as the last second that can be stored.
  ///   - machineId: a number of the machine; its low 3 bytes are used.
  ///   - processId: a number of the process; its low 2 bytes are used.
  public init(timestamp: Date, machineId: Int, processId: Int) {
    let machine = UInt64(truncatingIfNeeded: machineId) & 0xff_ffff
    let random = machine << 16 | UInt64(truncatingIfNeeded: processId) & 0xffff
    bytes = ObjectIdMaker.bytes(
      seconds: Self.seconds(of: timestamp), random: random,
      counter: ObjectIdMaker.shared.withLock { $0.nextCounter() })
  }

  /// Makes a new id. It is greater than all ids that this method made before in this process.
  public static func generate() -> ObjectId {
    let now = seconds(of: Date())
    return ObjectId(bytes: ObjectIdMaker.shared.withLock { $0.next(now) })
  }

  /// The moment at which the id was made, in whole seconds.
  public var timestamp: Date { Date(timeIntervalSince1970: Double(bytes.high >> 32)) }

  /// The 12 bytes as 24 lower-case hexadecimal digits.
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

/// The random number and the counters by which a process makes ids.
private struct ObjectIdMaker {
  static let shared = Mutex(ObjectIdMaker())

  /// The process that made this value. A forked child must not continue the counters of its parent.
  private var process = ProcessInfo.processInfo.processIdentifier
  private var random = UInt64.random(in: 0..<1 << 40)
  private var seconds: UInt32 = 0
  private var counter = Self.start()
  /// The counter of ids whose moment is given. It is separate so that it does not disturb the order of the other ids.
  private var given = Self.start()

  /// The first value of a counter. It is in the lower half of the range, so that there is room to count.
  private static func start() -> UInt32 { UInt32.random(in: 0..<1 << 23) }

  mutating func next(_ now: UInt32) -> ObjectIDBytes {
    renewInChild()
    if now > seconds {
      seconds = now
      counter = Self.start()
    } else if counter == 0xff_ffff {
      // After sixteen million ids in one second, the next ids get the next second.
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
  /// Whether the left id comes before the right one, by their bytes.
  public static func < (left: ObjectId, right: ObjectId) -> Bool {
    (left.bytes.high, left.bytes.low) < (right.bytes.high, right.bytes.low)
  }

  /// Whether it comes after another id.
  public func isGreaterThan(_ other: ObjectId) -> Bool { self > other }
  /// Whether it comes after another id, or equals it.
  public func isGreaterThanOrEqual(to other: ObjectId) -> Bool { self >= other }
  /// Whether it comes before another id.
  public func isLessThan(_ other: ObjectId) -> Bool { self < other }
  /// Whether it comes before another id, or equals it.
  public func isLessThanOrEqual(to other: ObjectId) -> Bool { self <= other }
}

extension ObjectId: CustomStringConvertible {
  /// The same text as `stringValue`.
  public var description: String { stringValue }
}

extension ObjectId: Codable {
  /// Decodes an id from a text of 24 hexadecimal digits.
  ///
  /// - Throws: `Realm.Error.invalidInput` if the text is not 24 hexadecimal digits; what the decoder throws.
  public init(from decoder: any Decoder) throws {
    try self.init(string: decoder.singleValueContainer().decode(String.self))
  }

  /// Encodes the id as a text of 24 hexadecimal digits.
  ///
  /// - Throws: what the encoder throws.
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
