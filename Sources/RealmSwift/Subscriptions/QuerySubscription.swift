import RealmStorage

/// A subscription to objects of one class: to all of them, or to those that match a condition. It is added to
/// `Realm.subscriptions`, and the server then sends these objects to the realm.
///
///     subscriptions.update {
///       subscriptions.append(QuerySubscription<Book>(name: "new") { $0.year > 2020 })
///     }
///
/// The condition can use only properties of the class itself, and only those that the server is set up for. Objects behind links
/// need subscriptions of their own.
public struct QuerySubscription<T: Object> {
  /// A closure that returns a condition for objects of the class.
  public typealias QueryFunction = (Query<T>) -> Query<Bool>

  private enum Condition {
    case always
    case query(Query<Bool>)
    case format(String, [Any])
  }

  let name: String?
  private let condition: Condition

  /// Makes a subscription to all objects of the class.
  ///
  /// - Parameter name: the name of the subscription; nil for a subscription without a name, which is found by its class and
  ///   condition.
  public init(name: String? = nil) { (self.name, condition) = (name, .always) }

  /// Makes a subscription to the objects that match a condition.
  ///
  /// - Parameters:
  ///   - name: the name of the subscription; nil for a subscription without a name, which is found by its class and condition.
  ///   - query: returns the condition; it is called at once. If the condition can't be written as a text, such as one that
  ///     compares with an object, the program stops when the subscription is used.
  public init(name: String? = nil, query: QueryFunction) {
    (self.name, condition) = (name, .query(query(.object())))
  }

  /// Makes a subscription to the objects that match a condition in the format of `NSPredicate`.
  ///
  /// - Parameters:
  ///   - name: the name of the subscription; nil for a subscription without a name, which is found by its class and condition.
  ///   - predicateFormat: the condition. If it is not valid for the class, the program stops when the subscription is used.
  ///   - args: the values for `%@` and the key paths for `%K`, in the order of the format.
  public init(name: String? = nil, where predicateFormat: String, _ args: Any...) {
    (self.name, condition) = (name, .format(predicateFormat, args))
  }

  /// The query of this subscription, with the names that the classes of a realm have in its file.
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
