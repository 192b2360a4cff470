/// A change, with what stood there before it.
public struct RecordedChange: Sendable, Equatable {
  public var change: RowChange
  public var before: Before
  /// The change follows from another one: a link that goes with the row it leads to, an embedded object that goes with its owner.
  public var isDerived: Bool

  /// What stood where the change was made.
  public enum Before: Sendable, Equatable {
    /// Nothing: of what is made or inserted, and of an element that only changes its place.
    case nothing
    /// The value of the cell, of the element or of the key; of a row that is deleted see `rows`.
    case value(Value)
    /// The elements that are removed, or the values of `setMany`, one for each row.
    case values([Value])
    /// The rows that are deleted.
    case rows(RowBatch)
  }

  public init(_ change: RowChange, before: Before = .nothing, isDerived: Bool = false) {
    self.change = change
    self.before = before
    self.isDerived = isDerived
  }

  /// The change that makes this one undone; nil for one of the schema, which stays, and for one that no writer tells.
  ///
  /// The inverses of several changes undo them in the opposite order. Takes time in proportion to the change.
  public var inverse: RowChange? { inverseKind.map { RowChange(table: change.table, $0) } }

  private var inverseKind: RowChange.Kind? {
    switch change.kind {
    case .createTable, .addColumn: nil
    case .create(let row, _): .delete(row: row)
    case .createMany(let batch): .deleteMany(batch.keys)
    case .delete, .deleteMany, .deleteAll: restored
    case .set(_, let cell): value.map { .set($0, cell) }
    case .add(let amount, let cell):
      amount == .min ? value.map { .set($0, cell) } : .add(-amount, cell)
    case .setMany(let column, let rows, _): .setMany(column: column, rows: rows, values: values)
    case .insertElement(_, let position, let place): Self.removal(at: position, count: 1, place)
    case .insertElements(let added, let position, let place):
      Self.removal(at: position, count: added.count, place)
    case .setElement(_, let position, let place): value.map { .setElement($0, at: position, place) }
    case .removeElements(let range, let place): .insertElements(values, at: range.lowerBound, place)
    case .moveElement(let from, let to, let place): .moveElement(from: to, to: from, place)
    case .swapElements(let first, let second, let place): .swapElements(first, second, place)
    case .reorderElements(let order, let place): .reorderElements(Self.inverse(of: order), place)
    case .insertIntoSet(let added, let cell): .removeFromSet(added, cell)
    case .removeFromSet(_, let cell): .insertIntoSet(values, cell)
    case .setValue(_, let key, let place):
      value.map { .setValue($0, key: key, place) } ?? .removeValue(key: key, place)
    case .removeValue(let key, let place): value.map { .setValue($0, key: key, place) }
    }
  }

  private var restored: RowChange.Kind? {
    guard case .rows(let batch) = before else { return nil }
    if batch.count == 1, let row = batch.first { return .create(row: row.key, values: row.values) }
    return .createMany(batch)
  }

  private var value: Value? { if case .value(let value) = before { value } else { nil } }

  private var values: [Value] { if case .values(let values) = before { values } else { [] } }

  /// Nil for a position that no list has.
  private static func removal(at position: Int, count: Int, _ place: ElementsPlace) -> RowChange.Kind? {
    let (end, isTooLarge) = position.addingReportingOverflow(count)
    return isTooLarge ? nil : .removeElements(position..<end, place)
  }

  private static func inverse(of order: [Int]) -> [Int] {
    var inverse = [Int](repeating: 0, count: order.count)
    for (place, source) in order.enumerated() where inverse.indices.contains(source) {
      inverse[source] = place
    }
    return inverse
  }
}

/// Is told every change of a transaction, with what stood there before.
///
/// Attached by `WriteTransaction.record(into:)`. Each change fits what the changes before it leave, but for links, which may lead to rows that are made by a
/// later change: links are complete after the last one. Changes of hidden tables are not told.
public protocol ChangeRecorder: AnyObject {
  /// Whether `createMany`, `setMany`, `deleteMany` and `deleteAll` are told as changes of one row each. Links between rows that are deleted together are
  /// not told then either: they go with the rows, and a row may be told before another one that linked to it.
  var takesRowsApart: Bool { get }

  /// Called in the thread of the transaction, which must not be used in it.
  ///
  /// - Throws: what ends the change under way; the transaction can't be committed then.
  func record(_ change: RecordedChange) throws(StorageError)

  /// Gives ids to elements of lists that are about to be inserted or moved, in a table whose elements have ids: answers the first of so many that follow each
  /// other. They are 1 to 2^63 - 1, and none of them is another element's of the same list, or that of a place that an element was moved to. Nil where this
  /// recorder gives none: then the change throws `.elementIDsMissing`.
  ///
  /// - Throws: what ends the change before it is begun.
  func elementIDs(_ count: UInt64) throws(StorageError) -> UInt64?
}

extension ChangeRecorder {
  public var takesRowsApart: Bool { false }

  public func elementIDs(_ count: UInt64) -> UInt64? { nil }
}

/// Keeps the changes of a transaction in memory, so that they can be applied elsewhere, or undone.
public final class ChangeList: ChangeRecorder {
  public private(set) var changes: [RecordedChange] = []
  public let takesRowsApart: Bool
  /// The id that the next element of a list gets whose elements have ids; nil where none is given.
  public private(set) var nextElementID: UInt64?

  /// - Parameter elementID: the first of the ids that are given to elements, one after another.
  public init(takesRowsApart: Bool = false, elementIDsFrom elementID: UInt64? = nil) {
    self.takesRowsApart = takesRowsApart
    nextElementID = elementID
  }

  public func elementIDs(_ count: UInt64) -> UInt64? {
    guard let first = nextElementID else { return nil }
    nextElementID = first + count
    return first
  }

  public func record(_ change: RecordedChange) { changes.append(change) }

  /// The changes that undo all of these when they are applied in this order.
  public var inverse: [RowChange] { changes.reversed().compactMap(\.inverse) }
}
