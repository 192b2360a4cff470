import RealmStorage
import RealmTestSupport

/// A file of a client or of the server. It is in memory, where it can be copied, or on a simulated disk that loses
/// power.
final class SimulatedFile {
  private enum Place {
    case memory(MemoryStorage)
    case disk(SimulatedDisk)
  }

  private let place: Place
  private let options: DatabaseOptions
  let database: Database

  init(isSynced: Bool, onDisk: Bool) throws {
    var options = DatabaseOptions()
    if isSynced { options.history = .synced }
    self.options = options
    if onDisk {
      let disk = SimulatedDisk()
      place = .disk(disk)
      database = try Database(creatingIn: disk, options: options)
    } else {
      let memory = try MemoryStorage(name: "file")
      place = .memory(memory)
      database = try Database(creatingIn: memory, options: options)
    }
  }

  private init(_ place: Place, _ storage: any Storage, _ options: DatabaseOptions) throws {
    (self.place, self.options) = (place, options)
    database = try Database(storage: storage, options: options)
  }

  /// A copy of the file; nil if it is on a disk.
  func copy() throws -> SimulatedFile? {
    guard case .memory(let memory) = place else { return nil }
    try database.flush()
    let new = try MemoryStorage(name: "copy")
    let bytes = memory.read(Int(memory.length()), at: 0)
    try new.write(bytes.span.bytes, at: 0)
    return try SimulatedFile(.memory(new), new, options)
  }

  /// The file as it is after a loss of power; nil if it is not on a disk.
  func afterPowerLoss(_ generator: inout SeededGenerator) throws -> SimulatedFile? {
    guard case .disk(let disk) = place else { return nil }
    let new = disk.afterPowerLoss(&generator)
    return try SimulatedFile(.disk(new), new, options)
  }
}
