import RealmStorage

// In extensions of `AnyBSON`, the name `Value` means the type of the values of a dictionary literal, so the type of the engine
// needs its module's name.
extension AnyBSON {
  /// The value as the engine stores the name of a partition; nil if a value of this type can't name a partition.
  ///
  /// Texts, whole numbers, object ids, UUIDs and null can name partitions. An `int32` and an `int64` with the same number name
  /// the same partition.
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
