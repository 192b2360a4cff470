import RealmStorage

/// Inserts objects of a class that has no links and whose values need no further check. Their values are stored as they
/// are.
final class PlainInsertion {
  /// Inserts one property. This is a class because taking a closure out of an array counts a reference.
  private final class Step {
    let insert: (ObjectBase, _ offset: Int, inout NewRow, _ column: Int) throws(StorageError) -> Void
    let offset: Int
    let column: Int

    init(
      _ insert: @escaping (ObjectBase, Int, inout NewRow, Int) throws(StorageError) -> Void, offset: Int,
      column: Int
    ) {
      self.insert = insert
      self.offset = offset
      self.column = column
    }
  }

  private let steps: [UncountedReference<Step>]
  /// Keeps the steps alive.
  private let kept: [Step]

  /// Returns nil for a class with values that must be made first, or with links to objects that must be added.
  init?(_ binding: ClassBinding) {
    var steps: [Step] = []
    for (property, column) in zip(binding.model.properties, binding.columns) where !property.isComputed {
      guard column >= 0, let insert = property.access.insert else { return nil }
      steps.append(Step(insert, offset: property.offset, column: column))
    }
    kept = steps
    self.steps = steps.map { UncountedReference($0) }
  }

  /// Adds an unmanaged object, which becomes managed, and returns its row. Returns nil if there is an object with its
  /// primary key.
  func add(_ object: ObjectBase, _ context: ObjectContext) -> UInt64? {
    let (session, binding) = (context.sessionOfHandles, context.binding)
    let row = session.use { session in
      session.writing(binding) { (table) throws(StorageError) -> UInt64? in
        do throws(StorageError) {
          return try table.insert { (row: inout NewRow) throws(StorageError) in
            for step in steps {
              try step.use { (step) throws(StorageError) in
                try step.insert(object, step.offset, &row, step.column)
              }
            }
          }
        } catch .duplicateKey {
          return nil
        }
      }
    }
    guard let row else { return nil }
    session.use { $0.didInsert(row, binding) }
    binding.model.manage(object, row, of: context)
    return row
  }
}
