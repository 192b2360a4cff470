import RealmStorage

// In extensions of AnyBSON, `Value` alone is the type of the values of a dictionary literal, and no value of the storage.
extension AnyBSON {
  /// The value that names a partition, as the storage has it; nil of a type that no partition has.
  ///
  /// Partitions have texts, whole numbers, object ids, UUIDs and null. An `int32` and an `int64` of the same number name one partition.
  func partitionValue() -> RealmStorage.Value? {
    switch self {
    case .string(let text): .string(text)
    case .int32(let number): .int(Int64(number))
    case .int64(let number): .int(number)
    case .objectId(let id): id._value
    case .uuid(let id): id._value
    case .null: .null
    case .double, .document, .array, .binary, .bool, .datetime, .regex, .timestamp, .decimal128, .minKey,
      .maxKey:
      nil
    }
  }
}
