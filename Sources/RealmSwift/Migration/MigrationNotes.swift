import RealmStorage

/// What a migration block did that is looked at when it has returned.
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

  /// What an old object stands for where it is linked to.
  enum Moved {
    /// The new object of its row.
    case object(ObjectBase)
    /// None: its new object was deleted.
    case gone
    /// Itself: it is no old object, or is a part of another, and is copied.
    case itself
  }

  func moved(_ object: ObjectBase) -> Moved {
    guard let context = object.context, context.session === old,
      let shown = new.tableModels?.binding(named: context.binding.model.name).map({ new.context($0) }),
      !shown.binding.model.isEmbedded
    else { return .itself }
    return shown.hasRow(object.row, birth: new.generation) ? .object(shown.object(object.row)) : .gone
  }

  /// Primary keys may be set, and be there twice until the end: the index that would refuse them is made anew then.
  func willSet(_ position: Int, of context: ObjectContext) {
    let column = context.binding.columns[position]
    guard context.binding.table?.columns[column].index == .unique else { return }
    loosen(context, column)
  }

  /// Objects with a key that is there may be made, too.
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

  /// What was wrong, in words; nil where nothing was.
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
