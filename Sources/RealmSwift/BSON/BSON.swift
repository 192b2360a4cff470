public import Foundation

/// A value that can name a partition of a synced realm.
///
/// Of the types that conform, a partition takes `String`, `Int`, `Int32`, `Int64`, `ObjectId`, `UUID` and `NSNull`.
public protocol PartitionValue: Sendable {}

/// A value that a BSON document can hold. `AnyBSON` holds one of any type.
public protocol BSON: PartitionValue, Equatable {}

/// A BSON document: values by their keys. A value of nil stands for null.
public typealias Document = [String: AnyBSON?]

/// The value of BSON that comes before all other values.
public struct MinKey: BSON, Hashable {
  /// The value, of which there is one.
  public init() {}
}

/// The value of BSON that comes behind all other values.
public struct MaxKey: BSON, Hashable {
  /// The value, of which there is one.
  public init() {}
}

extension NSNull: BSON {}
extension Int: BSON {}
extension Int32: BSON {}
extension Int64: BSON {}
extension Bool: BSON {}
extension Double: BSON {}
extension String: BSON {}
extension Data: BSON {}
extension Date: BSON {}
extension Decimal128: BSON {}
extension ObjectId: BSON {}
extension UUID: BSON {}
extension NSRegularExpression: BSON {}
extension Dictionary: PartitionValue, BSON where Key == String, Value == AnyBSON? {}
extension Array: PartitionValue, BSON where Element == AnyBSON? {}
