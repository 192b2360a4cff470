import RealmSyncClient

/// What reaches servers.
enum SyncNetworks {
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
