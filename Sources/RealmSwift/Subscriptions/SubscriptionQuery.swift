import RealmQuery
import RealmStorage

/// The query of a subscription: which objects it asks the server for.
struct SubscriptionQuery {
  /// The name of the class in the file.
  let table: String
  /// The condition in Realm's query language, with the stored names of properties; empty for all objects.
  let predicate: String
}

extension Realm {
  /// The query of a subscription to the objects of a class that match a condition.
  ///
  /// - Precondition: the condition can be written as a text. Otherwise the program stops.
  func subscriptionQuery(
    _ type: ObjectBase.Type, where condition: (ObjectContext) -> RealmStorage.Predicate
  ) -> SubscriptionQuery {
    let session = session
    session.check()
    view.check(type, session)
    let context = session.context(type)
    return context.subscriptionQuery(condition(context))
  }
}

extension ObjectContext {
  /// The query of a subscription to the objects of the context's class that match a condition.
  ///
  /// - Precondition: the condition can be written as a text, the class is not embedded and has a table in the file. Otherwise the
  ///   program stops.
  func subscriptionQuery(_ condition: RealmStorage.Predicate) -> SubscriptionQuery {
    let name = binding.model.name
    if binding.model.isEmbedded {
      raise(
        "Unsupported subscription",
        "\(name) is embedded: its objects come with those that they belong to, which a subscription asks for."
      )
    }
    guard let table = binding.table else {
      raise(
        "Class not in the file",
        "\(session.file.database.path) has no table of \(name), so that a subscription can't be made or looked for: open the realm "
          + "with the class in objectTypes.")
    }
    do throws(QueryError) {
      let text = try QueryPrinter.rql(
        condition, of: table.id,
        in: binding.model.family?.tables ?? session.schema.bindings.compactMap(\.table))
      return SubscriptionQuery(table: table.name, predicate: text)
    } catch {
      raise(
        "Unsupported subscription",
        "a server can't be asked for objects of \(name) by this condition. \(error.message).")
    }
  }
}
