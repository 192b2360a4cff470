import RealmStorage

/// What a realm is to have of a class: all objects, or those of which a condition holds. It is added to
/// `Realm.subscriptions`.
///
///     subscriptions.update {
///       subscriptions.append(QuerySubscription<Book>(name: "new") { $0.year > 2020 })
///     }
///
/// The server looks at properties of the objects themselves, and only at those that it is set up for. Objects behind links need
/// subscriptions of their own.
public struct QuerySubscription<T: Object> {
  /// A closure with a condition on the objects of the class.
  public typealias QueryFunction = (Query<T>) -> Query<Bool>

  private enum Condition {
    case always
    case query(Query<Bool>)
    case format(String, [Any])
  }

  let name: String?
  private let condition: Condition

  /// All objects of the class.
  ///
  /// - Parameter name: nil for a subscription that is found by what it asks for.
  public init(name: String? = nil) { (self.name, condition) = (name, .always) }

  /// The objects of which a condition holds.
  ///
  /// - Parameters:
  ///   - name: nil for a subscription that is found by what it asks for.
  ///   - query: is called at once. A condition that a text can't say, as one that compares with an object, stops the program when the
  ///     subscription is used.
  public init(name: String? = nil, query: QueryFunction) {
    (self.name, condition) = (name, .query(query(.object())))
  }

  /// The objects of which a condition holds that is written in the format of `NSPredicate`.
  ///
  /// - Parameters:
  ///   - name: nil for a subscription that is found by what it asks for.
  ///   - predicateFormat: a format. One that makes no sense for the class stops the program when the subscription is used.
  ///   - args: values for `%@` and key paths for `%K`, in the order of the format.
  public init(name: String? = nil, where predicateFormat: String, _ args: Any...) {
    (self.name, condition) = (name, .format(predicateFormat, args))
  }

  /// By the classes of a realm.
  func query(in realm: Realm) -> SubscriptionQuery {
    realm.subscriptionQuery(T.self) { context in
      switch condition {
      case .always: .always
      case .query(let query): query.bound(to: context)
      case .format(let format, let args): context.predicate(format: format, args)
      }
    }
  }
}
