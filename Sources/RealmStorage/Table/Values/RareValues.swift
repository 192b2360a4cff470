/// A value for each row, which most often is the usual value. They take memory and time only from
/// the first other value on.
struct RareValues<Element: Equatable & Sendable>: Sendable {
  private let usual: Element
  private(set) var count = 0
  /// The values of all rows; empty while all of them are the usual value.
  private var values: [Element] = []

  init(usual: Element) { self.usual = usual }

  init(_ values: [Element], usual: Element) {
    self.usual = usual
    count = values.count
    self.values = values
  }

  init(repeating value: Element, count: Int, usual: Element) {
    self.usual = usual
    self.count = count
    if value != usual { values = [Element](repeating: value, count: count) }
  }

  /// True if all values are known to be the usual one. If it is false, all may still be the usual one, because
  /// the others were removed.
  @inline(__always)
  var areUsual: Bool { values.isEmpty }

  @inline(__always)
  subscript(row: Int) -> Element { areUsual ? usual : values[row] }

  /// The value of each row; empty while all of them are the usual value.
  var others: [Element] { values }

  @inline(__always)
  mutating func append(_ value: Element) {
    if !areUsual || value != usual {
      if areUsual { values = [Element](repeating: usual, count: count) }
      values.append(value)
    }
    count += 1
  }

  mutating func append(contentsOf other: RareValues) {
    if !areUsual || !other.areUsual {
      if areUsual { values = [Element](repeating: usual, count: count) }
      values += other.areUsual ? [Element](repeating: usual, count: other.count) : other.values
    }
    count += other.count
  }

  mutating func insert(_ value: Element, at row: Int) {
    if !areUsual || value != usual {
      if areUsual { values = [Element](repeating: usual, count: count) }
      values.insert(value, at: row)
    }
    count += 1
  }

  mutating func remove(at row: Int) {
    if !areUsual { values.remove(at: row) }
    count -= 1
  }

  mutating func remove(_ rows: Range<Int>) {
    if !areUsual { values.removeSubrange(rows) }
    count -= rows.count
  }

  /// Keeps only the values at `places`, which are in order.
  mutating func keep(_ places: [UInt16]) {
    if !areUsual { values = places.map { values[Int($0)] } }
    count = places.count
  }
}
