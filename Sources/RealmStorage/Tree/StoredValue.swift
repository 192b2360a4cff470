/// A value of an ordered tree that may be too long for its leaf. If it is too long, the leaf holds its length in 8
/// bytes and a ref.
enum StoredValue {
  /// Sets the value of a key. If the old value named a ref, the caller frees what that ref names.
  static func set(
    _ value: [UInt8], for key: [UInt8], in root: Ref, _ editor: NodeEditor
  ) throws(StorageError) -> Ref {
    let key = key.span.bytes
    if value.count <= OrderedTree.maximumInlineValue {
      return try OrderedTree.set(TreeValue(bytes: value.span.bytes), for: key, in: root, editor: editor)
    }
    let length = lengthBytes(value.count)
    let ref = LongValue.write(value.span.bytes, editor: editor)
    return try OrderedTree.set(
      TreeValue(bytes: length.span.bytes, ref: ref), for: key, in: root, editor: editor)
  }

  fileprivate static func lengthBytes(_ length: Int) -> [UInt8] {
    (0..<8).map { UInt8(truncatingIfNeeded: length >> (8 * $0)) }
  }
}

extension TreeValue {
  /// The whole value, read from the leaf or from the node that the ref names.
  func contents(_ access: borrowing NodeAccess) throws(StorageError) -> [UInt8] {
    guard let ref else { return bytes.array }
    let value = try LongValue.read(ref, access)
    guard bytes.array == StoredValue.lengthBytes(value.count) else { throw access.corrupted(.rows, ref) }
    return value
  }
}
