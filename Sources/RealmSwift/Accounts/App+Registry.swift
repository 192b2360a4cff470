import Synchronization

/// Lets an initializer answer an object that there is already.
protocol GivenInstance {}

extension GivenInstance {
  init(given instance: Self) { self = instance }
}

extension App: GivenInstance {
  /// The app of an id, with the default configuration where it is new in this process. An empty id stops the program.
  #if !Sync
    @available(
      *, unavailable,
      message:
        "This library was built without the trait Sync, which device sync needs; enable it where your package depends on realm-swift."
    )
  #endif
  public convenience init(id: String) { self.init(given: App.registered(id)) }

  /// The app of an id. Where it is not new in this process, it has the configuration that it was first made with. An empty id stops the program.
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

  /// The app of an id: there is one in a process.
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
    // Not under the lock: files are opened and deleted, of which a logger of the program is told.
    let (app, isNew) = gate.opening("the app \(id)") { () -> (App, Bool) in
      if let app = known.withLock({ $0[id] }) { return (app, false) }
      let app = App(id: id, opening: settings ?? AppConfiguration().settings)
      known.withLock { $0[id] = app }
      return (app, true)
    }
    return isNew || settings == nil ? app : registered(id, configuration)
  }

  /// The id becomes the name of a folder.
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
