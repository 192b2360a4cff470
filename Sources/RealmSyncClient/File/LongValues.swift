import RealmStorage

extension Changeset {
  /// The changeset with its long values in their places. In the file they stand apart from it. The result is nil if a
  /// long value is missing or is not valid.
  func withLongValues(
    _ value: ([UInt8]) throws(StorageError) -> [UInt8]?
  ) throws(StorageError) -> Changeset? {
    var made = self
    for (object, instructions) in objects.enumerated() {
      for (place, instruction) in instructions.instructions.enumerated() where instruction.hasLongValue {
        guard let whole = try instruction.withLongValues(value) else { return nil }
        made.objects[object].instructions[place] = whole
      }
    }
    return made
  }
}

extension Instruction {
  fileprivate var hasLongValue: Bool {
    switch self {
    case .set(_, let value, _), .insert(_, _, _, _, let value), .setInsert(_, let value),
      .setErase(_, let value):
      value.isLong
    default: false
    }
  }

  fileprivate func withLongValues(
    _ long: ([UInt8]) throws(StorageError) -> [UInt8]?
  ) throws(StorageError) -> Instruction? {
    switch self {
    case .set(let path, let value, let isDefault):
      guard let value = try value.whole(long) else { return nil }
      return .set(path, value, isDefault: isDefault)
    case .insert(let path, let id, let left, let right, let value):
      guard let value = try value.whole(long) else { return nil }
      return .insert(path, id, left: left, right: right, value)
    case .setInsert(let path, let value):
      guard let value = try value.whole(long) else { return nil }
      return .setInsert(path, value)
    case .setErase(let path, let value):
      guard let value = try value.whole(long) else { return nil }
      return .setErase(path, value)
    default: return self
    }
  }
}

extension InstructionValue {
  fileprivate var isLong: Bool {
    switch self {
    case .chunked: true
    case .list(let elements): elements.contains { $0.isLong }
    case .map(_, let values): values.contains { $0.isLong }
    default: false
    }
  }

  fileprivate func whole(
    _ long: ([UInt8]) throws(StorageError) -> [UInt8]?
  ) throws(StorageError) -> InstructionValue? {
    switch self {
    case .chunked(let hash, _, let isText):
      guard let bytes = try long(hash) else { return nil }
      if !isText { return .value(.data(bytes)) }
      return String(validating: bytes, as: UTF8.self).map { .value(.string($0)) }
    case .list(let elements):
      guard let made = try Self.whole(elements, long) else { return nil }
      return .list(made)
    case .map(let keys, let values):
      guard let made = try Self.whole(values, long) else { return nil }
      return .map(keys, made)
    default: return self
    }
  }

  private static func whole(
    _ values: [InstructionValue], _ long: ([UInt8]) throws(StorageError) -> [UInt8]?
  ) throws(StorageError) -> [InstructionValue]? {
    var made: [InstructionValue] = []
    for value in values {
      guard let value = try value.whole(long) else { return nil }
      made.append(value)
    }
    return made
  }
}
