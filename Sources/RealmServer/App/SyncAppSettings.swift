import RealmStorage

/// The settings of the server of an app.
public struct SyncAppSettings: Sendable {
  /// The rights of a class, each a predicate in Realm's query language over the fields that filters may use,
  /// `$user.id`, `$user.roles`, `$user.custom_data.<name>` and `$partition`.
  public struct Rights: Sendable, Equatable {
    public var read: String
    public var write: String
    public var insert: String
    public var delete: String

    /// - Parameters:
    ///   - read: the objects that a user may read.
    ///   - write: the objects that a user may change. An object has to match before and after the change.
    ///   - insert: the objects that a user may create; the same as `write` unless given.
    ///   - delete: the objects that a user may delete; the same as `write` unless given.
    public init(read: String, write: String, insert: String? = nil, delete: String? = nil) {
      (self.read, self.write, self.insert, self.delete) = (read, write, insert ?? write, delete ?? write)
    }
  }

  /// The property that tells the partition of an object; nil if there are no partitions.
  public var partitionProperty: String?
  /// The properties that queries and rights may use, by class. A property that was allowed once stays allowed.
  public var fields: [String: [String]] = [:]
  /// The rights by class. Nobody can use a class that is not named. If this is nil, every user may do everything.
  public var rights: [String: Rights]?
  public var limits = Limits()

  public init() {}

  /// What an app allows its users.
  public struct Limits: Sendable {
    /// The greatest number of files of one user, without those that are given up.
    public var replicas = 1000
    /// The greatest number of channels of one connection.
    public var channels = 100
    /// The greatest number of queries in a query set of a file.
    public var queries: UInt32 = 100
    /// The number of bytes that may be on their way from the app to the client of a session. With this number or more
    /// on their way, the session gets no new step.
    public var unsentBytes = 1 << 20
    /// The greatest size of the app's file in bytes. While the file is larger, the server accepts no more changes from
    /// clients, and they try again later.
    public var fileBytes = UInt64.max
    /// The greatest size of the history in bytes, about. `trim` removes the oldest part of what is above, although
    /// files may need it. Those files are reset then.
    public var historyBytes = UInt64.max
    /// True if the clock of the machine is right, however far ahead of the last change it is.
    public var acceptsClock = false

    public init() {}
  }
}

/// Something in the settings of an app, or in its file, that can't be used.
public struct SyncAppProblem: Error, Sendable, Equatable, CustomStringConvertible {
  /// The class and the right that the problem concerns; nil if it concerns the whole app.
  public let table: String?
  public let right: String?
  /// A text that says what is wrong with the setting, and how to correct it.
  public let text: String

  public var description: String {
    let place = [right.map { "The right '\($0)'" }, table.map { "of the class '\($0)'" }].compactMap(\.self)
    return place.isEmpty ? text : "\(place.joined(separator: " ")): \(text)"
  }
}

extension SyncAppSettings {
  /// The problem with a predicate; nil if rights may use it.
  ///
  /// - Parameters:
  ///   - fields: the properties of the class that the predicate may use.
  public static func problem(inRight predicate: String, of table: String, fields: [String]) -> String? {
    do throws(FilterProblem) {
      _ = try FieldFilter.parse(predicate, of: table, fields: fields, purpose: .rule) { _ in nil }
      return nil
    } catch {
      return error.text
    }
  }

  /// The rights as filters.
  ///
  /// - Parameter schemas: the schemas of the classes that exist. Constants are read as values of the type of the
  ///   property that they are compared with.
  func rules(
    _ schemas: [TableSchema], _ settings: ServerState.Settings
  ) throws(SyncAppProblem) -> AccessRules {
    guard let rights else { return .everything }
    var rules = AccessRules(read: ClassFilters(), write: ClassFilters())
    for (table, right) in rights {
      let columns = schemas.first { $0.name == table }?.columns ?? []
      let texts: [(name: String, text: String, place: WritableKeyPath<AccessRules, ClassFilters>)] = [
        ("read", right.read, \.read), ("write", right.write, \.write), ("insert", right.insert, \.insert),
        ("delete", right.delete, \.delete),
      ]
      for (name, text, place) in texts {
        do throws(FilterProblem) {
          rules[keyPath: place].byClass[table] = try FieldFilter.parse(
            text, of: table, fields: settings.fields(of: table), purpose: .rule
          ) { field in columns.first { $0.name == field && $0.collection == .none }?.type }
        } catch {
          throw SyncAppProblem(table: table, right: name, text: error.text)
        }
      }
    }
    return rules
  }
}
