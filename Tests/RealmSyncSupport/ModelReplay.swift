import RealmServer
import RealmStorage
import RealmSync

/// Integrates the log of a schedule, and reports how the result differs from the result of the model.
package struct ModelReplay {
  package private(set) var uploads = 0
  package private(set) var refusals = 0
  package private(set) var effects = 0
  package private(set) var trims = 0

  package init() {}

  package mutating func run(_ schedule: ModelSchedule, _ database: Database) throws -> String? {
    let transaction = try database.beginWrite()
    defer { transaction.cancel() }
    try ModelClass.make(transaction)
    let state = try ServerState(transaction, settings: ModelClass.settings)
    var done: HistoryEntry?
    for step in schedule.steps {
      switch step {
      case .entry(let record, let querySets):
        if case .upload(let upload) = record.entry, let querySets {
          try state.set(1, ModelClass.filters(querySets), of: upload.replica, transaction)
          uploads += 1
        }
        if case .trim = record.entry { trims += 1 }
        done = try state.integrate(record, in: transaction)
      case .result(let expected):
        refusals += done?.refusals.count ?? 0
        effects += done?.objects.reduce(0) { $0 + $1.effects.count } ?? 0
        let found = ModelSchedule.Result(
          version: state.version, isAccepted: done != nil, stamp: done?.stamp ?? expected.stamp,
          refused: (done?.refusals ?? []).map(\.modelText).sorted())
        if found != expected { return "version \(state.version): \(found) in place of \(expected)" }
      }
    }
    if state.horizon != schedule.horizon { return "the horizon is \(state.horizon), not \(schedule.horizon)" }
    if state.mark != schedule.mark { return "the mark is \(state.mark), not \(schedule.mark)" }
    let texts = try ModelClass.texts(transaction) { state.numbers[Int($0)] }
    for key in Set(texts.keys).union(schedule.objects.keys).sorted()
    where texts[key] != schedule.objects[key] {
      return
        "object \(key) is\n  \(texts[key] ?? "not there")\nin place of\n  \(schedule.objects[key] ?? "none")"
    }
    return nil
  }
}

extension Refusal {
  fileprivate var modelText: String {
    let text =
      switch reason {
      case .keyInUse: "key"
      case .outsideQuerySet: "set"
      case .notPermitted: "right"
      case .schemaMismatch: "type"
      case .tooLarge: "size"
      }
    switch subject {
    case .object(let name): return if case .int(let key) = name.key { "\(key):\(text)" } else { "?" }
    case .table(let table): return table
    case .property(_, let property): return property
    }
  }
}
