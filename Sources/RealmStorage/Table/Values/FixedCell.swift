/// The stored form of a value in a cluster's node, which takes 1, 2, 4, 8, 12 or 16 bytes.
struct FixedCell {
  private let low: UInt64
  private let high: UInt64
  private let size: Int

  /// Makes a cell of the lowest bytes of a number.
  init(_ number: UInt64, size: Int) {
    (low, high) = (size == 8 ? number : number & (1 << UInt64(8 * size) - 1), 0)
    self.size = size
  }

  /// Makes a cell of a value that is not null, for a column whose values have a fixed number of bytes.
  init(_ value: Value, size: Int) {
    switch value {
    case .double(let number): (low, high) = (number.bitPattern, 0)
    case .float(let number): (low, high) = (UInt64(number.bitPattern), 0)
    // The stored bytes, read as an integer, make a number whose lowest byte is the first.
    case .objectID(let id): (low, high) = (id.high.byteSwapped, UInt64(id.low.byteSwapped))
    case .uuid(let id), .decimal128(let id): (low, high) = (id.high.byteSwapped, id.low.byteSwapped)
    default: (low, high) = (0, 0)
    }
    self.size = size
  }

  /// Whether the cell's bytes stand at an offset of a node's body.
  func stands(at offset: Int, of view: NodeView) -> Bool {
    switch size {
    case 1: UInt64(view.load(UInt8.self, at: offset)) == low
    case 2: UInt64(view.load(UInt16.self, at: offset)) == low
    case 4: UInt64(view.load(UInt32.self, at: offset)) == low
    case 8: view.load(UInt64.self, at: offset) == low
    case 12:
      view.load(UInt64.self, at: offset) == low && UInt64(view.load(UInt32.self, at: offset + 8)) == high
    default: view.load(UInt64.self, at: offset) == low && view.load(UInt64.self, at: offset + 8) == high
    }
  }

  func store(at offset: Int, of node: borrowing NodeWriter) {
    switch size {
    case 1: node.store(UInt8(truncatingIfNeeded: low), at: offset)
    case 2: node.store(UInt16(truncatingIfNeeded: low), at: offset)
    case 4: node.store(UInt32(truncatingIfNeeded: low), at: offset)
    default:
      node.store(low, at: offset)
      if size == 12 { node.store(UInt32(truncatingIfNeeded: high), at: offset + 8) }
      if size == 16 { node.store(high, at: offset + 8) }
    }
  }
}
