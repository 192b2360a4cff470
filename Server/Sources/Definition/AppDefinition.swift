/// The content of the definition of one app: the file `app.yaml`, which people write.
///
/// All values are plain: times are in seconds, sizes in bytes. What the file leaves out has its default.
public struct AppDefinition: Sendable, Equatable {
  /// The ways in which users may sign in.
  public enum Provider: String, Sendable, CaseIterable {
    case anonymous
    case emailPassword = "email-password"
    case apiKey = "api-key"
  }

  /// `id`: 1 to 64 of `a-z A-Z 0-9 - _`. The caller checks that no other app of the server has it.
  public var id: String
  /// `development`: every user may read and write everything, and clients may add classes. The default is
  /// false.
  public var isDevelopment = false
  /// `partition`: the property that tells the partition of an object; 1 to 255 bytes. The default is nil:
  /// there are no partitions.
  public var partition: String?
  /// `fields`: the properties that queries and rights may use, by class, in the order of the file. There are 200
  /// classes at most, with 200 properties each. The property of the partition may be used in all classes, whether it is
  /// named here or not. The default is none.
  public var fields: [String: [String]] = [:]
  /// `rights`: what users may do, by class. There are 200 classes at most. If `isDevelopment` is false, a class that is
  /// left out is refused. If it is true, there are no rights. The default is none.
  public var rights: [String: Rights] = [:]
  /// `providers`: the ways in which users may sign in. The default is `email-password` alone; an empty list
  /// lets nobody sign in.
  public var providers: Set<Provider> = [.emailPassword]
  /// `email`: how addresses of users are confirmed.
  public var email = Email()
  /// `maximum-offline-time`, in seconds: a client that was away for longer starts anew. With 0 no client is forgotten.
  /// It is 0, or from 60 (1 minute) to 3,153,600,000 (36,500 days). The default is 2,592,000 (30 days).
  public var maximumOfflineTime = 30 * 86_400
  /// `limits`: the limits of the app.
  public var limits = Limits()

  /// - Parameter id: the id of the app. Everything else has its default.
  public init(id: String) { self.id = id }
}

extension AppDefinition {
  /// How addresses of users are confirmed.
  public struct Email: Sendable, Equatable {
    /// The way in which a mail reaches a user.
    public enum Delivery: Sendable, Equatable {
      /// `command`: the absolute path of a program, and its arguments; 1 to 64 texts without a zero byte.
      case command([String])
      /// `address`: a URL with `https`, or with `http` if its host is this machine.
      case address(String)
    }

    /// `auto-confirm`: true if an address counts as confirmed when it is registered. The default is false.
    public var autoConfirm = false
    /// `command` or `address`. The default is nil: no mail is sent.
    public var delivery: Delivery?

    /// Everything has its default.
    public init() {}
  }

  /// The limits of the app.
  public struct Limits: Sendable, Equatable {
    /// `replicas-per-user`: the greatest number of files of one user, 1 to 1,000,000. The default is 1,000.
    public var replicasPerUser = 1_000
    /// `data`: the greatest size of the app's file in bytes, 1 MiB to 1,048,576 GiB. The default is 10 GiB.
    public var data = 10 << 30
    /// `history`: the greatest size of the history in bytes, 1 MiB to 1,048,576 GiB. The default is nil: there is no
    /// limit.
    public var history: Int?
    /// `connections`: the greatest number of connections at one time, 1 to 1,000,000. The default is 10,000.
    public var connections = 10_000
    /// `connections-per-user`: the greatest number of connections of one user at one time, 1 to 1,000,000. The default
    /// is 100.
    public var connectionsPerUser = 100

    /// Everything has its default.
    public init() {}
  }
}
