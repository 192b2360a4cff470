/// A change, with what was there before it.
public struct RecordedChange: Sendable, Equatable {
  /// The change.
  public var change: RowChange
  /// What was there before the change.
  public var before: Before
  /// Whether the change follows from another one: for example, a link that is removed with the row to which it leads, or an
  /// embedded object that is deleted with its owner.
  public var isDerived: Bool

  /// What was there before a change.
  public enum Before: Sendable, Equatable {
    /// Nothing, for what is made or inserted, and for elements that only change their position.
    case nothing
    /// The value of the cell, the element or the key. For deleted rows it is `rows`.
    case value(Value)
    /// The removed elements; or the old values of `setMany`, one for each row.
    case values([Value])
    /// The deleted rows.
    case rows(RowBatch)
  }

  /// Makes a recorded change.
  public init(_ change: RowChange, before: Before = .nothing, isDerived: Bool = false) {
    self.change = change
    self.before = before
    self.isDerived = isDerived
  }

  /// The change that undoes this one. Nil for a change of the schema, which can't be undone, and for a change that no
  /// writer records.
  ///
  /// To undo several changes, apply their inverses in the opposite order. Takes time in proportion to the change.
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

  /// The inverse of an insertion; nil for a position that no list has.
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

/// An object that gets each change of a transaction, with what was there before it.
///
/// `WriteTransaction.record(into:)` attaches it. Each change fits the state that the changes before it leave, except that links
/// may lead to rows that a later change makes: all links are complete after the last change. Changes of hidden tables are not
/// recorded.
public protocol ChangeRecorder: AnyObject {
  /// Whether the recorder gets `createMany`, `setMany`, `deleteMany` and `deleteAll` as changes of single rows. The
  /// recorder gets no changes for links between rows that are deleted together, because the links are lost with the
  /// rows. It may get the deletion of a row before that of another row that linked to it. The default is false.
  var takesRowsApart: Bool { get }

  /// Takes a change. The transaction calls it on its own thread. The recorder must not use the transaction.
  ///
  /// - Throws: an error that ends the present change. The transaction can't be committed then.
  func record(_ change: RecordedChange) throws(StorageError)

  /// Provides ids for list elements that are about to be inserted or moved, in a table whose elements have ids. The default
  /// implementation returns nil.
  ///
  /// The ids are the returned number and the `count - 1` numbers after it. They are in 1 to 2^63 - 1, and differ from the ids of
  /// all other elements of the same list and of all places to which its elements were moved.
  ///
  /// - Returns: the first id; nil if this recorder gives no ids: the change throws `.elementIDsMissing` then.
  /// - Throws: an error that ends the change before it begins.
  func elementIDs(_ count: UInt64) throws(StorageError) -> UInt64?
}

extension ChangeRecorder {
  /// False: the recorder gets changes of many rows as they are.
  public var takesRowsApart: Bool { false }

  /// Nil: the recorder gives no ids.
  public func elementIDs(_ count: UInt64) -> UInt64? { nil }
}

/// A recorder that keeps the changes of a transaction in memory, so that they can be applied elsewhere, or undone.
public final class ChangeList: ChangeRecorder {
  /// The recorded changes, in their order.
  public private(set) var changes: [RecordedChange] = []
  /// Whether it gets changes of many rows as changes of single rows.
  public let takesRowsApart: Bool
  /// The id of the next list element, in tables whose elements have ids; nil if it gives none.
  public private(set) var nextElementID: UInt64?

  /// Makes an empty list of changes.
  ///
  /// - Parameters:
  ///   - takesRowsApart: whether it gets changes of many rows as changes of single rows.
  ///   - elementID: the first id that it gives to list elements, one after another; nil if it gives none.
  public init(takesRowsApart: Bool = false, elementIDsFrom elementID: UInt64? = nil) {
    self.takesRowsApart = takesRowsApart
    nextElementID = elementID
  }

  /// Gives the next ids; see `ChangeRecorder.elementIDs(_:)`.
  public func elementIDs(_ count: UInt64) -> UInt64? {
    guard let first = nextElementID else { return nil }
    nextElementID = first + count
    return first
  }

  /// Adds a change to `changes`.
  public func record(_ change: RecordedChange) { changes.append(change) }

  /// The changes that undo all recorded ones, in the order in which they have to be applied.
  public var inverse: [RowChange] { changes.reversed().compactMap(\.inverse) }
}
