import Foundation
import RealmStorage

/// A change of the elements of a list, apart from the elements that it adds.
enum ListChange {
  /// Puts what is added before the element at a place, or behind all.
  case insert(at: Int)
  /// Puts what is added, one element, into the place of another.
  case set(Int)
  case remove(Range<Int>)
  case removeOffsets(IndexSet)
  case move(from: Int, to: Int)
  /// Puts elements before the one at a place, or behind all; they keep their order.
  case moveOffsets(IndexSet, to: Int)
  case swap(Int, Int)
  /// Puts what is added into the place of a range.
  case replace(Range<Int>)
  /// Puts the elements into other places: of each place, from which it gets its element.
  case reorder([Int])
  /// Puts what is added into the place of all elements.
  case assign

  /// Elements that stay may stand elsewhere then, in a list of so many.
  func movesElements(of count: Int) -> Bool {
    switch self {
    case .set: false
    case .insert(let index): index < count
    default: true
    }
  }

  /// Changes the elements of an array.
  func apply<Element>(to elements: inout [Element], _ added: [Element]) {
    switch self {
    case .insert(let index): elements.insert(contentsOf: added, at: index)
    case .set(let index): elements[index] = added[0]
    case .remove(let range): elements.removeSubrange(range)
    case .removeOffsets(let offsets): elements.remove(atOffsets: offsets)
    case .move(let old, let new): elements.insert(elements.remove(at: old), at: new)
    case .moveOffsets(let offsets, let place): elements.move(fromOffsets: offsets, toOffset: place)
    case .swap(let first, let second): elements.swapAt(first, second)
    case .replace(let range): elements.replaceSubrange(range, with: added)
    case .reorder(let order): elements = order.map { elements[$0] }
    case .assign: elements = added
    }
  }
}

extension WritableTable {
  /// Changes the elements of a list of a row; answers false where there is no such row.
  ///
  /// - Parameters:
  ///   - column: the position of the column of lists.
  ///   - added: the values of the elements that are added.
  func change(
    _ column: Int, ofRow row: UInt64, _ change: ListChange, _ added: [Value]
  ) throws(StorageError) -> Bool {
    switch change {
    case .insert(let index): return try insert(added, at: index, ofList: column, ofRow: row)
    case .set(let index): return try setElement(added[0], at: index, ofList: column, ofRow: row)
    case .remove(let range): return try removeElements(range, ofList: column, ofRow: row)
    case .removeOffsets(let offsets):
      for range in offsets.rangeView.reversed() {
        guard try removeElements(range, ofList: column, ofRow: row) else { return false }
      }
      return try contains(row)
    case .move(let old, let new): return try moveElement(from: old, to: new, ofList: column, ofRow: row)
    case .moveOffsets(let offsets, let place):
      for move in Self.moves(of: offsets, to: place) {
        guard try moveElement(from: move.old, to: move.new, ofList: column, ofRow: row) else { return false }
      }
      return try contains(row)
    case .swap(let first, let second): return try swapElements(first, second, ofList: column, ofRow: row)
    case .replace(let range): return try replace(range, ofList: column, ofRow: row, added)
    case .reorder(let order):
      guard let elements = try value(column, ofRow: row)?.elements else { return false }
      return try set(.list(order.map { elements[$0] }), column, ofRow: row)
    case .assign: return try set(.list(added), column, ofRow: row)
    }
  }

  /// Moves of one element each that together move many: those behind the place from the first on, those before it from the last
  /// on, so that none moves what is still to be moved.
  private static func moves(of offsets: IndexSet, to place: Int) -> [(old: Int, new: Int)] {
    let (before, behind) = (offsets.filter { $0 < place }, offsets.filter { $0 >= place })
    return before.reversed().enumerated().map { ($1, place - 1 - $0) }
      + behind.enumerated().map { ($1, place + $0) }
  }

  private func replace(
    _ range: Range<Int>, ofList column: Int, ofRow row: UInt64, _ added: [Value]
  ) throws(StorageError) -> Bool {
    let common = min(range.count, added.count)
    for place in 0..<common {
      let isThere = try setElement(
        added[place], at: range.lowerBound + place, ofList: column, ofRow: row)
      guard isThere else { return false }
    }
    let end = range.lowerBound + common
    if end < range.upperBound {
      return try removeElements(end..<range.upperBound, ofList: column, ofRow: row)
    }
    return try insert(added[common...], at: end, ofList: column, ofRow: row)
  }
}
