import RealmSyncClient

/// The network that sessions use.
enum SyncNetworks {
  /// The network of this build. Without the trait `Sync`, reading it stops the program.
  static var current: any SyncNetwork {
    #if Sync
      NIONetwork.shared
    #else
      raise(
        "No network",
        "this library was built without the trait Sync; enable it where your package depends on realm-swift.")
    #endif
  }
}
