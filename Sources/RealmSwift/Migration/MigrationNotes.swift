import RealmStorage

/// Records what a migration block does, so that it can be checked after the block has returned.
final class MigrationNotes {
  private struct Misfit {
    let property: String
    let type: Any.Type
    var samples: [String]
  }
  private var misfits: [String: Misfit] = [:]
  private var problems: [String] = []
  private unowned let old: RealmSession
  private unowned let new: RealmSession

  init(old: RealmSession, new: RealmSession) { (self.old, self.new) = (old, new) }

  /// The object that takes the place of an old object to which the block links.
  enum Moved {
    /// The new object of the same row.
    case object(ObjectBase)
    /// Nothing, because its new object was deleted.
    case gone
    /// The object itself: it is not an old object, or it is embedded and is copied.
    case itself
  }

  func moved(_ object: ObjectBase) -> Moved {
    guard let context = object.context, context.session === old,
      let shown = new.tableModels?.binding(named: context.binding.model.name).map({ new.context($0) }),
      !shown.binding.model.isEmbedded
    else { return .itself }
    return shown.hasRow(object.row, birth: new.generation) ? .object(shown.object(object.row)) : .gone
  }

  /// Allows primary keys to be set, and to have duplicates until the end of the migration. The unique index is removed now
  /// and made anew at the end.
  func willSet(_ position: Int, of context: ObjectContext) {
    let column = context.binding.columns[position]
    guard context.binding.table?.columns[column].index == .unique else { return }
    loosen(context, column)
  }

  /// Allows objects to be made whose primary key another object has. The unique index is removed now and made anew at the
  /// end.
  func willMake(_ context: ObjectContext) {
    guard let columns = context.binding.table?.columns else { return }
    for column in columns.indices where columns[column].index == .unique { loosen(context, column) }
  }

  private func loosen(_ context: ObjectContext, _ column: Int) {
    context.session.writing(context.binding) { (table) throws(StorageError) in
      guard table.schema.columns[column].index == .unique else { return }
      try table.setIndex(.none, ofColumn: column)
    }
  }

  func note(_ any: Any, doesNotFit property: ModelProperty, of model: ObjectModel) {
    let name = "\(model.name).\(property.name)"
    var misfit = misfits[name] ?? Misfit(property: name, type: property.field.valueType, samples: [])
    if misfit.samples.count < 3 {
      misfit.samples.append("\(ObjectDescription.quoted(any)) of type \(Swift.type(of: any))")
    }
    misfits[name] = misfit
  }

  func note(_ problem: String) { problems.append(problem) }

  /// The text that says what the block did wrong; nil if it did nothing wrong.
  var problem: String? {
    let misfits = misfits.values.sorted { $0.property < $1.property }.map {
      "property \($0.property) is of type \($0.type), and can't be set to \($0.samples.joined(separator: ", "))"
    }
    let all = problems + misfits
    guard !all.isEmpty else { return nil }
    return "The migrationBlock can't be followed:\n" + all.map { "- \($0)\n" }.joined()
      + "The file is as it was. Change the block, and open the realm again."
  }
}
