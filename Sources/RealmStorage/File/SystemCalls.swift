import CRealmPlatform

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The calls by which files are made, opened and used. Only this folder calls the system.
///
/// Each method returns what the system answers: a count or a descriptor, or a negative errno; or an errno, which is 0
/// for success. The default implementations are the system's own calls; tests replace them by calls that fail.
///
/// No descriptor is below 3. Otherwise, in a program that was started without standard input, output or error, printed
/// text would go into the file that has taken the place of one of these.
package protocol SystemCalls: Sendable {
  func open(_ path: String, _ flags: CInt) -> CInt
  func makeFolder(_ path: String) -> CInt
  func link(_ path: String, as other: String) -> CInt
  /// Moves a file to the path of another, which it replaces.
  func rename(_ path: String, to other: String) -> CInt
  func status(_ descriptor: CInt, _ info: inout stat) -> CInt
  func map(_ descriptor: CInt, size: Int, writable: Bool) -> (mapping: Mapping?, refusal: CInt)
  func lock(_ descriptor: CInt, at offset: UInt64, isShared: Bool, waits: Bool) -> CInt
  func end(_ descriptor: CInt) -> Int
  func read(_ descriptor: CInt, into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) -> Int
  func write(_ descriptor: CInt, from buffer: UnsafeRawBufferPointer, at offset: UInt64) -> Int
  /// Makes mapped bytes present, so that unreadable bytes are an errno here and not a signal later.
  func populate(_ address: UnsafeRawPointer, _ count: Int) -> CInt
  func sync(_ descriptor: CInt, kind: SyncKind) -> CInt
  func truncate(_ descriptor: CInt, to length: UInt64) -> CInt
}

/// How much a flush makes durable.
package enum SyncKind: Sendable {
  /// The content of the file and its length.
  case data
  /// All of the file's metadata too. New files and folders need this.
  case all
}

/// The system's own calls.
package struct NativeSystemCalls: SystemCalls {
  package init() {}
}

extension SystemCalls {
  package func open(_ path: String, _ flags: CInt) -> CInt {
    let descriptor = cp_above_standard(systemOpen(path, flags | O_CLOEXEC, 0o666))
    return descriptor < 0 ? -errno : descriptor
  }

  package func makeFolder(_ path: String) -> CInt { mkdir(path, 0o777) == 0 ? 0 : errno }

  package func link(_ path: String, as other: String) -> CInt { systemLink(path, other) == 0 ? 0 : errno }

  package func rename(_ path: String, to other: String) -> CInt {
    systemRename(path, other) == 0 ? 0 : errno
  }

  package func status(_ descriptor: CInt, _ info: inout stat) -> CInt {
    fstat(descriptor, &info) == 0 ? 0 : errno
  }

  package func map(_ descriptor: CInt, size: Int, writable: Bool) -> (mapping: Mapping?, refusal: CInt) {
    guard let mapping = Mapping.file(descriptor, size: size, writable: writable) else { return (nil, errno) }
    return (mapping, 0)
  }

  package func lock(_ descriptor: CInt, at offset: UInt64, isShared: Bool, waits: Bool) -> CInt {
    cp_lock(descriptor, offset, isShared ? 0 : 1, waits ? 1 : 0)
  }

  /// The file's length, found by seeking. On Linux, a request for a file's times makes the next write store new ones.
  /// Each sync of data then writes the inode as well, and takes half as long again.
  package func end(_ descriptor: CInt) -> Int {
    let end = lseek(descriptor, 0, SEEK_END)
    return end < 0 ? -Int(errno) : Int(end)
  }

  package func read(_ descriptor: CInt, into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) -> Int
  {
    let count = pread(descriptor, buffer.baseAddress, buffer.count, off_t(offset))
    return count < 0 ? -Int(errno) : count
  }

  package func write(_ descriptor: CInt, from buffer: UnsafeRawBufferPointer, at offset: UInt64) -> Int {
    let count = pwrite(descriptor, buffer.baseAddress, buffer.count, off_t(offset))
    return count < 0 ? -Int(errno) : count
  }

  package func populate(_ address: UnsafeRawPointer, _ count: Int) -> CInt { cp_populate(address, count) }

  package func sync(_ descriptor: CInt, kind: SyncKind) -> CInt {
    cp_sync(descriptor, CInt((kind == .data ? CP_SYNC_DATA : CP_SYNC_ALL).rawValue))
  }

  package func truncate(_ descriptor: CInt, to length: UInt64) -> CInt {
    ftruncate(descriptor, off_t(length)) == 0 ? 0 : errno
  }
}

// An extension that has functions of these names hides the system's functions.
private func systemOpen(_ path: String, _ flags: CInt, _ mode: mode_t) -> CInt { open(path, flags, mode) }
private func systemLink(_ path: String, _ other: String) -> CInt { link(path, other) }
private func systemRename(_ path: String, _ other: String) -> CInt { rename(path, other) }

extension SystemCalls {
  /// - Throws: `.system`.
  func opened(_ path: String, _ flags: CInt) throws(StorageError) -> CInt {
    let descriptor = open(path, flags)
    guard descriptor >= 0 else { throw .system(call: .open, errno: -descriptor, path: path, offset: nil) }
    return descriptor
  }

  /// - Throws: `.system`.
  func status(_ descriptor: CInt, path: String) throws(StorageError) -> stat {
    var info = stat()
    let refusal = status(descriptor, &info)
    guard refusal == 0 else { throw .system(call: .stat, errno: refusal, path: path, offset: nil) }
    return info
  }

  /// Reads up to `count` bytes. The result has fewer bytes only at the end of the file.
  ///
  /// - Throws: `.system`.
  func read(
    _ count: Int, from descriptor: CInt, at offset: UInt64, path: String
  ) throws(StorageError) -> [UInt8] {
    var refusal: CInt = 0
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      (filled, refusal) = readAll(into: UnsafeMutableRawBufferPointer(buffer), from: descriptor, at: offset)
    }
    guard refusal == 0 else { throw .system(call: .read, errno: refusal, path: path, offset: offset) }
    return bytes
  }

  /// Writes all of `bytes`, in as many calls as it takes.
  ///
  /// A call writes 64 KiB at most, and ends at a multiple of 64 KiB. Linux keeps the bytes of one call in folios as
  /// large as that, up to 2 MiB, and looks at all blocks of a folio when one of them is written later
  /// (docs/decisions/space-and-disk.md).
  ///
  /// - Returns: An errno, 0 for none.
  func writeAll(_ bytes: UnsafeRawBufferPointer, to descriptor: CInt, at offset: UInt64) -> CInt {
    let most: UInt64 = 64 << 10
    return transfer(bytes.count, atEnd: ENOSPC) { done in
      let place = offset + UInt64(done)
      let end = min(bytes.count, done + Int(most - place % most))
      return write(descriptor, from: UnsafeRawBufferPointer(rebasing: bytes[done..<end]), at: place)
    }.refusal
  }

  /// Reads until `buffer` is full or the file ends. Returns how many bytes were read, and an errno, 0 for none.
  func readAll(
    into buffer: UnsafeMutableRawBufferPointer, from descriptor: CInt, at offset: UInt64
  ) -> (done: Int, refusal: CInt) {
    transfer(buffer.count, atEnd: 0) { done in
      read(
        descriptor, into: UnsafeMutableRawBufferPointer(rebasing: buffer[done...]), at: offset + UInt64(done))
    }
  }

  /// Makes a whole transfer from partial ones. A signal may interrupt at any time; the 1001st interruption without any
  /// progress is an error.
  private func transfer(
    _ count: Int, atEnd: CInt, _ part: (_ done: Int) -> Int
  ) -> (done: Int, refusal: CInt) {
    var (done, interruptions) = (0, 0)
    while done < count {
      let moved = part(done)
      if moved == -Int(EINTR), interruptions < 1000 {
        interruptions += 1
        continue
      }
      if moved < 0 { return (done, CInt(-moved)) }
      if moved == 0 { return (done, atEnd) }
      done += moved
      interruptions = 0
    }
    return (done, 0)
  }
}

extension StorageError {
  /// True if the disk can't read the bytes (EIO), at least not now.
  var isReadFailure: Bool {
    if case .system(call: .read, errno: EIO, _, _) = self { true } else { false }
  }

  /// Calls `read` up to three times, because bytes that can't be read now can often be read a moment later. If they
  /// were taken for damaged at once, a recovery could go back behind what was committed.
  static func askingAgain<Result>(
    _ read: () throws(StorageError) -> Result
  ) throws(StorageError) -> Result {
    try again(3, where: \.isReadFailure, read)
  }

  /// Calls `body` again if a compaction has put another file in the place of the one that is opened or removed. The new
  /// file is used then. There are eight attempts at most.
  static func startingOver<Result>(
    _ body: () throws(StorageError) -> Result
  ) throws(StorageError) -> Result {
    try again(8, where: { if case .controlReplaced = $0 { true } else { false } }, body)
  }

  private static func again<Result>(
    _ attempts: Int, where isPassing: (StorageError) -> Bool, _ body: () throws(StorageError) -> Result
  ) throws(StorageError) -> Result {
    for _ in 1..<attempts {
      do throws(StorageError) {
        return try body()
      } catch {
        guard isPassing(error) else { throw error }
      }
    }
    return try body()
  }

  /// True if the disk is full, or if the limit of this user or of a file is reached.
  var isForWantOfSpace: Bool {
    guard case .system(call: .write, let number, _, _) = self else { return false }
    return [ENOSPC, EDQUOT, EFBIG].contains(number)
  }
}

/// The system's message for an error number.
func systemMessage(_ number: CInt) -> String {
  var buffer = [CChar](repeating: 0, count: 256)
  guard strerror_r(number, &buffer, buffer.count) == 0 else { return "unknown error" }
  return buffer.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
}
