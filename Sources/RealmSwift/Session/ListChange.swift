import Foundation
import RealmStorage

/// A change of the elements of a list. The elements that it adds are given separately.
enum ListChange {
  /// Inserts the added elements before the element at an index, or at the end.
  case insert(at: Int)
  /// Replaces the element at an index by the added element.
  case set(Int)
  case remove(Range<Int>)
  case removeOffsets(IndexSet)
  case move(from: Int, to: Int)
  /// Moves elements before the element at an index, or to the end. The moved elements keep their order.
  case moveOffsets(IndexSet, to: Int)
  case swap(Int, Int)
  /// Replaces the elements of a range by the added elements.
  case replace(Range<Int>)
  /// Reorders the elements: for each index, the array has the index from which the element comes.
  case reorder([Int])
  /// Replaces all elements by the added elements.
  case assign

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

/// A list in the open transaction. Each operation returns false if the list does not exist any more.
struct WritableList {
  private let table: WritableTable
  private let column: Int
  private let row: UInt64
  /// The place of the list in an `AnyRealmValue`; nil for a list that is a property of its own.
  private let place: NestedPlace?

  init(_ table: WritableTable, _ column: Int, _ row: UInt64, _ place: NestedPlace?) {
    self.table = table
    self.column = column
    self.row = row
    self.place = place
  }

  /// Changes the elements.
  ///
  /// - Parameter added: the stored values of the elements that are added.
  func change(_ change: ListChange, _ added: [Value]) throws(StorageError) -> Bool {
    switch change {
    case .insert(let index): return try insert(added, at: index)
    case .set(let index): return try set(added[0], at: index)
    case .remove(let range): return try remove(range)
    case .removeOffsets(let offsets):
      for range in offsets.rangeView.reversed() {
        guard try remove(range) else { return false }
      }
      return try isThere()
    case .move(let old, let new): return try move(from: old, to: new)
    case .moveOffsets(let offsets, let place):
      for move in Self.moves(of: offsets, to: place) {
        guard try self.move(from: move.old, to: move.new) else { return false }
      }
      return try isThere()
    case .swap(let first, let second):
      guard let place else { return try table.swapElements(first, second, ofList: column, ofRow: row) }
      return try table.swapElements(first, second, of: place)
    case .replace(let range): return try replace(range, by: added)
    case .reorder(let order):
      guard let place else { return try table.reorderElements(order, ofList: column, ofRow: row) }
      return try table.reorderElements(order, of: place)
    case .assign:
      guard let place else { return try table.set(.list(added), column, ofRow: row) }
      guard let elements = try table.value(at: place)?.elements else { return false }
      return try replace(0..<elements.count, by: added)
    }
  }

  private func isThere() throws(StorageError) -> Bool {
    guard let place else { return try table.contains(row) }
    return try table.value(at: place) != nil
  }

  private func insert(_ values: [Value], at index: Int) throws(StorageError) -> Bool {
    guard let place else { return try table.insert(values, at: index, ofList: column, ofRow: row) }
    return try table.insert(values, at: index, of: place)
  }

  private func set(_ value: Value, at index: Int) throws(StorageError) -> Bool {
    guard let place else { return try table.setElement(value, at: index, ofList: column, ofRow: row) }
    return try table.setElement(value, at: index, of: place)
  }

  private func remove(_ range: Range<Int>) throws(StorageError) -> Bool {
    guard let place else { return try table.removeElements(range, ofList: column, ofRow: row) }
    return try table.removeElements(range, of: place)
  }

  private func move(from old: Int, to new: Int) throws(StorageError) -> Bool {
    guard let place else { return try table.moveElement(from: old, to: new, ofList: column, ofRow: row) }
    return try table.moveElement(from: old, to: new, of: place)
  }

  /// The moves of single elements that together move many. Elements behind the target index are moved from the first
  /// one on, and those before it from the last one on, so that no move changes the index of an element that is still to
  /// be moved.
  private static func moves(of offsets: IndexSet, to place: Int) -> [(old: Int, new: Int)] {
    let (before, behind) = (offsets.filter { $0 < place }, offsets.filter { $0 >= place })
    return before.reversed().enumerated().map { ($1, place - 1 - $0) }
      + behind.enumerated().map { ($1, place + $0) }
  }

  private func replace(_ range: Range<Int>, by added: [Value]) throws(StorageError) -> Bool {
    let common = min(range.count, added.count)
    for offset in 0..<common {
      guard try set(added[offset], at: range.lowerBound + offset) else { return false }
    }
    let end = range.lowerBound + common
    if end < range.upperBound { return try remove(end..<range.upperBound) }
    return try insert(Array(added[common...]), at: end)
  }
}
