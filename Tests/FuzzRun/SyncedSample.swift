import RealmStorage
import RealmSyncSupport
import RealmTestSupport

/// The bytes of a file of device sync, and the result of using it.
///
/// The file was closed cleanly, so both of its meta pages name the same version.
struct SyncedSample {
  enum Owner: String, CaseIterable {
    case client, server
  }

  let owner: Owner
  let key: [UInt8]?
  let bytes: [UInt8]
  let use: SyncedUse
  /// For each byte, whether it lies in a node of the file's version, so that the version needs it.
  let reached: [Bool]
  /// The fingerprint that results from using the unchanged file.
  let untouched: UInt64

  static func name(_ owner: Owner, _ key: [UInt8]?) -> String {
    "\(owner.rawValue)-\(key == nil ? "plain" : "encrypted")"
  }

  static func open(
    _ storage: ByteStorage, _ owner: Owner, _ key: [UInt8]?
  ) throws(StorageError) -> Database {
    try Database(storage: storage, options: SyncedWorld.options(isClient: owner == .client, key))
  }

  init(_ owner: Owner, key: [UInt8]?, seed: UInt64) throws {
    let world = try SyncedWorld.make(seed: seed, key: key)
    (self.owner, self.key) = (owner, key)
    bytes = owner == .client ? world.clientBytes : world.serverBytes
    use = SyncedUse(
      owner: owner,
      talks: [
        SyncedUse.Talk(user: SyncedWorld.user, frames: SyncedWorld.frames(world.talk, isUpward: true)),
        SyncedUse.Talk(
          user: SyncedWorld.neighbour, frames: SyncedWorld.frames(world.neighbourTalk, isUpward: true)),
      ])
    let storage = try ByteStorage()
    storage.fill(bytes)
    reached = try Self.reached(by: storage, owner, key)
    storage.fill(bytes)
    let outcome = try use.look(at: storage, key: key)
    guard case .content(let fingerprint, let isSound) = outcome, isSound else {
      throw Violation("the untouched file of a \(owner.rawValue) can't be used: \(outcome)")
    }
    untouched = fingerprint
  }

  // MARK: - Nodes

  private static func reached(
    by storage: ByteStorage, _ owner: Owner, _ key: [UInt8]?
  ) throws -> [Bool] {
    var reached = [Bool](repeating: false, count: storage.bytes.count)
    let nonce = key == nil ? 0 : 24
    for node in try open(storage, owner, key).snapshot().nodes() {
      let start = Int(node.offset)
      for offset in start..<start + node.length + nonce { reached[offset] = true }
    }
    return reached
  }
}
