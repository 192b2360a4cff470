import Synchronization

/// Lets an initializer of a class return an object that exists already.
protocol GivenInstance {}

extension GivenInstance {
  init(given instance: Self) { self = instance }
}

extension App: GivenInstance {
  /// The app with an id. If this process has none with that id yet, it makes one with the default configuration.
  ///
  /// - Precondition: the id is not empty, not `.` or `..`, and takes at most 200 bytes when it is percent-encoded as the name of
  ///   a folder. Otherwise the program stops.
  #if !Sync
    @available(
      *, unavailable,
      message:
        "This library was built without the trait Sync, which device sync needs; enable it where your package depends on realm-swift."
    )
  #endif
  public convenience init(id: String) { self.init(given: App.registered(id)) }

  /// The app with an id. If this process has one with that id already, that one is returned with the configuration that it was
  /// first made with, and `configuration` is ignored; a warning is logged if the two differ.
  ///
  /// - Precondition: the id is not empty, not `.` or `..`, and takes at most 200 bytes when it is percent-encoded as the name of
  ///   a folder. Otherwise the program stops.
  #if !Sync
    @available(
      *, unavailable,
      message:
        "This library was built without the trait Sync, which device sync needs; enable it where your package depends on realm-swift."
    )
  #endif
  public convenience init(id: String, configuration: AppConfiguration) {
    self.init(given: App.registered(id, configuration))
  }

  private static let known = Mutex<[String: App]>([:])
  private static let gate = OpeningGate()

  /// The app with an id. A process has at most one for each id.
  static func registered(_ id: String, _ configuration: AppConfiguration? = nil) -> App {
    checkID(id)
    let settings = configuration?.settings
    if let app = known.withLock({ $0[id] }) {
      if let settings, !settings.isSame(as: app.settings) {
        Logger.shared.log(
          .warn,
          "The app \(id) has the configuration that it was first made with. Another one, given later, is ignored: give the same everywhere."
        )
      }
      return app
    }
    // The lock is not held here: making an app opens and deletes files and logs it, and the program's own logger must not run
    // under the lock.
    let (app, isNew) = gate.opening("the app \(id)") { () -> (App, Bool) in
      if let app = known.withLock({ $0[id] }) { return (app, false) }
      let app = App(id: id, opening: settings ?? AppConfiguration().settings)
      known.withLock { $0[id] = app }
      return (app, true)
    }
    return isNew || settings == nil ? app : registered(id, configuration)
  }

  /// Stops the program if the id can't be the name of a folder.
  private static func checkID(_ id: String) {
    guard !id.isEmpty, id != ".", id != ".." else {
      raise("Invalid app id", "App(id:): '\(id)' names no app. Give the id that the server has for it.")
    }
    let count = SyncPaths.encoded(id).utf8.count
    guard count <= 200 else {
      raise(
        "Invalid app id",
        "App(id:): the id takes \(count) bytes as the name of a folder, and 200 can be used. Give the id that the server has for it."
      )
    }
  }
}
