public import Foundation

/// A type whose values may name a partition of a synced realm.
///
/// Of the types that conform, only `String`, `Int`, `Int32`, `Int64`, `ObjectId`, `UUID` and `NSNull` can be used for partitions.
public protocol PartitionValue: Sendable {}

/// A type whose values can be stored in a BSON document. `AnyBSON` holds a value of any of these types.
public protocol BSON: PartitionValue, Equatable {}

/// A BSON document: values by their keys. The value nil stands for null.
public typealias Document = [String: AnyBSON?]

/// The BSON value that is sorted before all others. All instances are equal.
public struct MinKey: BSON, Hashable {
  /// Makes the value.
  public init() {}
}

/// The BSON value that is sorted after all others. All instances are equal.
public struct MaxKey: BSON, Hashable {
  /// Makes the value.
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
