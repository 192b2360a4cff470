import CRealmPlatform
import Synchronization

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A database in a file, mapped for reading and written by calls.
///
/// The engine never stores bytes through the mapping: such stores cost two flushes and write whole folios.
package final class FileStorage: Storage {
  package let path: String
  package let identity: FileIdentity
  package let isReadOnly: Bool
  package let boot = BootID.current
  private let controlFile: ControlFile?
  package var control: SharedMemory? { controlFile?.memory }

  private let pipe = Mutex<NotePipe?>(nil)
  package var note: NotePipe? { pipe.withLock { $0 } }
  private let calls: any SystemCalls
  private let opened: CInt
  /// The descriptor that mappings are made from. See `OpenedFile.mapped`.
  private let mapped: CInt
  private let isClosed = Atomic<Bool>(false)
  private var descriptor: CInt { isClosed.load(ordering: .acquiring) ? -1 : opened }
  private let forkGeneration = cp_fork_generation()
  private let state: Mutex<State>

  private struct State {
    var mapping: Mapping
    /// Mappings that became too small for the file. Readers may still use their addresses.
    var outgrown: [Mapping] = []
  }

  package var mapping: Mapping { state.withLock { $0.mapping } }

  /// Opens a file that exists, whatever its content is.
  ///
  /// - Throws: The errors of `OpenedFile` and of the other initializer.
  package convenience init(path: String, readOnly: Bool, calls: any SystemCalls = NativeSystemCalls())
    throws(StorageError)
  {
    try self.init(OpenedFile(path: path, readOnly: readOnly, calls: calls))
  }

  /// Takes over an open file, and makes the files beside it that all participants share. Closes the file if that fails.
  ///
  /// - Throws: `.system` when the system refuses; `.remoteFileSystem` if the file is opened for writing on a file
  ///   system of another machine, where mappings are not coherent; `.controlReplaced` if another process replaces the
  ///   control file meanwhile.
  package init(_ file: OpenedFile) throws(StorageError) {
    path = file.path
    calls = file.calls
    isReadOnly = file.isReadOnly
    identity = file.identity
    do throws(StorageError) {
      if !file.isReadOnly, cp_is_remote(file.descriptor) != 0 { throw .remoteFileSystem(path: file.path) }
      let mapping = try Self.map(file.mapped, length: file.length(), path: file.path, file.calls)
      controlFile = try Self.openControl(beside: file)
      state = Mutex(State(mapping: mapping))
    } catch {
      file.close()
      throw error
    }
    opened = file.descriptor
    mapped = file.mapped
  }

  /// Opens the pipe. The initializer does not, so that a database that can't be opened leaves no pipe.
  package func openNote() {
    guard controlFile != nil else { return }
    pipe.withLock { pipe in
      if pipe == nil { pipe = NotePipe(path: path + ".note") }
    }
  }

  package func removeOwnCompanions() {
    guard !isClosed.load(ordering: .acquiring) else { return }
    let hasMadePipe = note?.wasMade ?? false
    controlFile?.removeWhatWasMade(beside: opened, and: hasMadePipe ? path + ".note" : nil)
  }

  deinit { close() }

  package func close() {
    // A forked child closed its copies when it was made. The numbers of these descriptors may mean other files by now.
    guard !isForked, !isClosed.exchange(true, ordering: .acquiringAndReleasing) else { return }
    _ = cp_close(opened)
    _ = cp_close(mapped)
    if let controlFile { _ = cp_close(controlFile.descriptor) }
  }

  // MARK: - Locks

  package func lock(_ lock: StorageLock, waits: Bool) throws(StorageError) -> Bool {
    // Without a control file the handle shares nothing, so its locks would keep no other handle out.
    if lock.isOfControlFile, controlFile == nil { return true }
    switch calls.lock(descriptor(of: lock), at: lock.offset, isShared: lock.isShared, waits: waits) {
    case 0: return true
    case EWOULDBLOCK: return false
    case let refusal: throw .system(call: .lock, errno: refusal, path: path, offset: nil)
    }
  }

  package func unlock(_ lock: StorageLock) {
    if lock.isOfControlFile, controlFile == nil { return }
    _ = cp_unlock(descriptor(of: lock), lock.offset)
  }

  package func isHeldElsewhere(_ lock: StorageLock) -> Bool {
    cp_is_locked(descriptor(of: lock), lock.offset) != 0
  }

  package var isControlInPlace: Bool { controlFile?.isInPlace ?? true }

  package var isFileInPlace: Bool {
    var info = stat()
    return stat(path, &info) == 0 && FileIdentity(info) == identity
  }
  package var isForked: Bool { cp_fork_generation() != forkGeneration }

  private func descriptor(of lock: StorageLock) -> CInt {
    if isClosed.load(ordering: .acquiring) { return -1 }
    return lock.isOfControlFile ? controlFile?.descriptor ?? -1 : descriptor
  }

  package func length() throws(StorageError) -> UInt64 {
    let end = calls.end(descriptor)
    guard end >= 0 else { throw .system(call: .stat, errno: CInt(-end), path: path, offset: nil) }
    return UInt64(end)
  }

  package func read(_ count: Int, at offset: UInt64) throws(StorageError) -> [UInt8] {
    try calls.read(count, from: descriptor, at: offset, path: path)
  }

  package func write(_ bytes: RawSpan, at offset: UInt64) throws(StorageError) {
    guard !isReadOnly else { throw .readOnly(path: path) }
    let refusal = bytes.withUnsafeBytes { calls.writeAll($0, to: descriptor, at: offset) }
    guard refusal == 0 else { throw .system(call: .write, errno: refusal, path: path, offset: offset) }
  }

  package func startWriting(_ count: Int, at offset: UInt64) {
    cp_start_writing(descriptor, offset, UInt64(count))
  }

  package func sync(_ kind: SyncKind) throws(StorageError) {
    let refusal = calls.sync(descriptor, kind: kind)
    guard refusal == 0 else { throw .system(call: .sync, errno: refusal, path: path, offset: nil) }
  }

  package func truncate(to length: UInt64) throws(StorageError) {
    guard !isReadOnly else { throw .readOnly(path: path) }
    let refusal = calls.truncate(descriptor, to: length)
    guard refusal == 0 else { throw .system(call: .truncate, errno: refusal, path: path, offset: length) }
  }

  package func reserve(_ length: UInt64) throws(StorageError) {
    guard length <= FileLimit.bytes else { throw .limitExceeded(.fileSize, path: path) }
    guard length > UInt64(mapping.size) else { return }
    let larger = try Self.map(mapped, length: length, path: path, calls)
    state.withLock { state in
      state.outgrown.append(state.mapping)
      state.mapping = larger
    }
  }

  package func populate(_ count: Int, at offset: UInt64) throws(StorageError) {
    let start = offset & ~4095
    let end = offset + UInt64(count)
    let refusal = calls.populate(mapping.base + Int(start), Int(end - start))
    guard refusal == 0 else { throw .system(call: .read, errno: refusal, path: path, offset: offset) }
  }

  /// Does nothing if the file is longer than an eighth of the machine's memory. The large pieces of such a file would
  /// drive others out of memory, and a program that looks for single values would read them for little use.
  ///
  /// The first 2 MiB, with the meta pages, are left out: each commit writes a meta page, and the system looks at the
  /// whole piece that the page lies in.
  package func expectMuchReading() {
    let most = SystemMemory.bytes / 8
    guard let length = try? length(), length <= UInt64(most) else { return }
    mapping.preferLargePages(from: Self.largePiece, to: max(most, Self.largePiece))
  }

  private static let largePiece = 2 << 20

  // MARK: - Opening

  /// Maps the file. The range of addresses is far larger than the file, because an address costs nothing until it is
  /// touched.
  private static func map(
    _ descriptor: CInt, length: UInt64, path: String, _ calls: any SystemCalls
  ) throws(StorageError) -> Mapping {
    var size = UInt64(1) << 36
    while size < length * 4 { size *= 2 }
    while true {
      let (mapping, refusal) = calls.map(descriptor, size: Int(size), writable: false)
      if let mapping { return mapping }
      // If addresses are scarce, a smaller range will do. It holds at least the file and 4 MiB.
      guard size / 2 >= max(length, 1 << 22) else {
        throw .system(call: .map, errno: refusal, path: path, offset: nil)
      }
      size /= 2
    }
  }

  /// Opens the control file. A read-only handle does without it if the folder can't be written to.
  private static func openControl(beside file: OpenedFile) throws(StorageError) -> ControlFile? {
    do {
      return try ControlFile(
        beside: file.path, open: file.descriptor, bytes: ControlPlace.leastBytes,
        limit: ControlPlace.mostBytes,
        file.calls)
    } catch {
      // The error for a control file that is being replaced is passed on, because the caller then starts over.
      if file.isReadOnly, error != .controlReplaced(path: file.path) { return nil }
      throw error
    }
  }
}

/// The greatest length of a file.
package enum FileLimit {
  package static let bytes = UInt64(1) << 47
}

extension FileStorage {
  package static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

  /// Makes a file with `content` appear at `path` at once and whole, whatever happens meanwhile.
  ///
  /// If several processes do so, the first one's file stays. When the call returns, the content and the name are
  /// durable.
  package static func create(
    path: String, content: [UInt8], calls: any SystemCalls = NativeSystemCalls()
  ) throws(StorageError) {
    let temporary = temporary(for: path)
    let descriptor = calls.open(temporary, O_WRONLY | O_CREAT | O_EXCL)
    guard descriptor >= 0 else { throw .system(call: .open, errno: -descriptor, path: path, offset: nil) }
    defer { unlink(temporary) }
    let refusal = content.withUnsafeBytes { calls.writeAll($0, to: descriptor, at: 0) }
    guard refusal == 0 else {
      _ = cp_close(descriptor)
      throw .system(call: .write, errno: refusal, path: path, offset: nil)
    }
    _ = try place(descriptor, temporary, at: path, calls)
  }

  /// The path of a temporary file, which is to be placed at `path` later.
  static func temporary(for path: String) -> String {
    "\(path).new-\(getpid())-\(UInt32.random(in: 0...UInt32.max))"
  }

  /// Makes a complete file appear at `path` too, as `create` does. Returns false if there is a file already.
  package static func place(
    _ temporary: String, at path: String, calls: any SystemCalls = NativeSystemCalls()
  ) throws(StorageError) -> Bool {
    try place(calls.opened(temporary, O_RDWR), temporary, at: path, calls)
  }

  /// The path with all links followed; nil if nothing is there.
  static func resolved(_ path: String) -> String? {
    guard let resolved = realpath(path, nil) else { return nil }
    defer { free(resolved) }
    return String(cString: resolved)
  }

  /// The error for a file that should be made but exists already.
  static func alreadyThere(_ path: String) -> StorageError {
    .system(call: .link, errno: EEXIST, path: path, offset: nil)
  }

  /// Places the file as the other overload does, and closes the descriptor.
  private static func place(
    _ descriptor: CInt, _ temporary: String, at path: String, _ calls: any SystemCalls
  ) throws(StorageError) -> Bool {
    let refusal = calls.sync(descriptor, kind: .all)
    _ = cp_close(descriptor)
    guard refusal == 0 else { throw .system(call: .sync, errno: refusal, path: path, offset: nil) }
    let linkRefusal = calls.link(temporary, as: path)
    guard linkRefusal == 0 || linkRefusal == EEXIST else {
      throw .system(call: .link, errno: linkRefusal, path: path, offset: nil)
    }
    try syncFolder(of: path, calls)
    return linkRefusal == 0
  }

  static func syncFolder(of path: String, _ calls: any SystemCalls) throws(StorageError) {
    let end = path.lastIndex(of: "/")
    let folder = end.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    let descriptor = try calls.opened(folder, O_RDONLY)
    let refusal = calls.sync(descriptor, kind: .all)
    _ = cp_close(descriptor)
    // Some file systems can't flush a folder. The link is then as durable as they make it.
    guard refusal == 0 || refusal == EINVAL else {
      throw .system(call: .sync, errno: refusal, path: folder, offset: nil)
    }
  }
}
