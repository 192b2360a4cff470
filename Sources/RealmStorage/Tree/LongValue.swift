/// A value with too many bytes for a leaf. It is stored in chunks. Above them stand branches, which say how many bytes
/// there are below each child.
///
/// The body of a chunk is the number of its bytes (4 bytes), 4 bytes of zero, and the bytes. The body of a chunk branch
/// is the number of bytes below each child, in 8 bytes each (FORMAT.md, "Long values").
package enum LongValue {
  static let chunkBytes = 64 * 1024
  static let fanOut = 256
  /// The longest value, in bytes.
  package static let maximumLength = 1 << 40

  /// See `NodeValidators`.
  static func isValidChunk(_ view: NodeView) -> Bool {
    view.refCount == 0 && view.bodyLength >= 8 && Int(view.load(UInt32.self, at: 0)) <= view.bodyLength - 8
  }

  /// See `NodeValidators`.
  static func isValidBranch(_ view: NodeView) -> Bool {
    guard view.refCount >= 1, 8 * view.refCount <= view.bodyLength else { return false }
    var sum: UInt64 = 0
    for index in 0..<view.refCount {
      let (next, overflow) = sum.addingReportingOverflow(view.load(UInt64.self, at: 8 * index))
      guard !overflow, next <= UInt64(maximumLength) else { return false }
      sum = next
    }
    return true
  }

  /// Writes the bytes. Returns the ref that names them.
  package static func write(_ bytes: RawSpan, editor: NodeEditor) -> Ref {
    let arena = editor.arena
    var children: [(length: UInt64, ref: Ref)] = []
    var start = 0
    repeat {
      let part = bytes.extracting(start..<min(start + chunkBytes, bytes.byteCount))
      let chunk = arena.make(kind: .chunk, level: 0, refCount: 0, bodyLength: 8 + part.byteCount)
      chunk.store(UInt32(part.byteCount), at: 0)
      chunk.store(UInt32(0), at: 4)
      chunk.copy(part, at: 8)
      children.append((UInt64(part.byteCount), chunk.ref))
      start += part.byteCount
    } while start < bytes.byteCount
    while children.count > 1 {
      children = stride(from: 0, to: children.count, by: fanOut).map { first in
        branch(Array(children[first..<min(first + fanOut, children.count)]), editor)
      }
    }
    return children[0].ref
  }

  private static func branch(_ children: [(length: UInt64, ref: Ref)], _ editor: NodeEditor) -> (UInt64, Ref)
  {
    let arena = editor.arena
    let level = (children.map { $0.ref.level }.max() ?? 0) + 1
    let node = arena.make(
      kind: .chunkBranch, level: level, refCount: children.count, bodyLength: 8 * children.count)
    for (index, child) in children.enumerated() {
      node.setRef(index, to: child.ref)
      node.store(child.length, at: 8 * index)
    }
    return (children.reduce(0) { $0 + $1.length }, node.ref)
  }

  package static func length(_ ref: Ref, _ access: borrowing NodeAccess) throws(StorageError) -> Int {
    let view = try access.node(ref)
    if ref.rawKind == NodeKind.chunk.rawValue { return Int(view.load(UInt32.self, at: 0)) }
    guard ref.rawKind == NodeKind.chunkBranch.rawValue else { throw access.corrupted(.structure, ref) }
    var sum = 0
    for index in 0..<view.refCount { sum += Int(view.load(UInt64.self, at: 8 * index)) }
    return sum
  }

  /// Returns all bytes of the value. Takes time and memory in proportion to their number.
  package static func read(_ ref: Ref, _ access: borrowing NodeAccess) throws(StorageError) -> [UInt8] {
    // No value is longer than the file, but a forged value may name one chunk many times.
    let length = try length(ref, access)
    guard ref.isDirty || UInt64(length) <= access.end else { throw access.corrupted(.rows, ref) }
    var bytes: [UInt8] = []
    // The length is only a claim of one node, so no more than 64 MiB are reserved for it. The array grows as the parts
    // are read.
    bytes.reserveCapacity(min(length, 64 << 20))
    try append(ref, length: length, to: &bytes, access)
    return bytes
  }

  /// The bytes of the first chunk. They are at least as many as any reader of the start of a long value needs.
  @_lifetime(borrow access)
  package static func firstBytes(
    _ ref: Ref, _ access: borrowing NodeAccess
  ) throws(StorageError) -> RawSpan {
    var ref = ref
    while ref.rawKind == NodeKind.chunkBranch.rawValue { ref = try access.node(ref).ref(0) }
    let chunk = try access.node(ref, .chunk)
    return chunk.bytes(at: 8, count: Int(chunk.load(UInt32.self, at: 0)))
  }

  /// Appends the bytes below a node. Each part must have the length that its parent gives, and at least one byte, so
  /// that a forged value takes no longer to read than a real one.
  private static func append(
    _ ref: Ref, length: Int, to bytes: inout [UInt8], _ access: borrowing NodeAccess
  ) throws(StorageError) {
    guard try self.length(ref, access) == length else { throw access.corrupted(.rows, ref) }
    let view = try access.node(ref)
    guard ref.rawKind == NodeKind.chunkBranch.rawValue else {
      bytes += view.bytes(at: 8, count: length).array
      return
    }
    for index in 0..<view.refCount {
      let part = Int(view.load(UInt64.self, at: 8 * index))
      guard part > 0 else { throw access.corrupted(.rows, ref) }
      try append(view.ref(index), length: part, to: &bytes, access)
    }
  }
}
