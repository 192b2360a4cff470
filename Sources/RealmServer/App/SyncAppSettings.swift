import RealmStorage

/// The settings of the server of an app.
public struct SyncAppSettings: Sendable {
  /// The rights of a class, each a predicate in Realm's query language over the fields that filters may use, `$user.id`, `$user.roles`, `$user.custom_data.<name>` and `$partition`.
  public struct Rights: Sendable, Equatable {
    public var read: String
    public var write: String
    public var insert: String
    public var delete: String

    /// - Parameters:
    ///   - read: the objects that a user may read.
    ///   - write: the objects that a user may change, before a change and behind it.
    ///   - insert: the objects that a user may make; the same as `write` unless given.
    ///   - delete: the objects that a user may delete; the same as `write` unless given.
    public init(read: String, write: String, insert: String? = nil, delete: String? = nil) {
      (self.read, self.write, self.insert, self.delete) = (read, write, insert ?? write, delete ?? write)
    }
  }

  /// The property that tells the partition of an object; nil where there are no partitions.
  public var partitionProperty: String?
  /// The properties that queries and rights may use, by class. A property that was let in once stays.
  public var fields: [String: [String]] = [:]
  /// The rights by class. Nobody can use a class that is not named. Nil lets every user do everything.
  public var rights: [String: Rights]?
  public var limits = Limits()

  public init() {}

  /// What an app allows its users.
  public struct Limits: Sendable {
    /// Files of one user that are not given up.
    public var replicas = 1000
    /// Sessions of one connection.
    public var channels = 100
    /// Queries of one file.
    public var queries: UInt32 = 100
    /// Bytes of one session that may have left the server's memory for the network and are still on their way, before it gets more.
    public var unsentBytes = 1 << 20
    /// The file of the app may have so many bytes: nothing more is taken in from clients then, and they try again later.
    public var fileBytes = UInt64.max
    /// The history may have so many bytes, about: with `trim` the oldest part goes, although files may need it. These are reset then.
    public var historyBytes = UInt64.max
    /// The clock of the machine is right, however far ahead of the last change it is.
    public var acceptsClock = false

    public init() {}
  }
}

/// Something in the settings of an app, or in its file, that can't be used.
public struct SyncAppProblem: Error, Sendable, Equatable, CustomStringConvertible {
  /// The class and the right that it concerns; nil of what concerns the whole app.
  public let table: String?
  public let right: String?
  /// It says what is wrong, and what to do.
  public let text: String

  public var description: String {
    let place = [right.map { "The right '\($0)'" }, table.map { "of the class '\($0)'" }].compactMap(\.self)
    return place.isEmpty ? text : "\(place.joined(separator: " ")): \(text)"
  }
}

extension SyncAppSettings {
  /// What is wrong with a predicate; nil of one that rights may use.
  ///
  /// - Parameters:
  ///   - fields: the properties of the class that it may use.
  public static func problem(inRight predicate: String, of table: String, fields: [String]) -> String? {
    do throws(FilterProblem) {
      _ = try FieldFilter.parse(predicate, of: table, fields: fields, purpose: .rule) { _ in nil }
      return nil
    } catch {
      return error.text
    }
  }

  /// The rights, read.
  ///
  /// - Parameter schemas: of the classes that there are: what a predicate compares with is read as of the type of the property.
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
