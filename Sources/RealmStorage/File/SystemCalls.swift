import CPlatform

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The calls that move a database's bytes. Only this file and `FileStorage` speak to the system.
///
/// Each answers what the system answers: a count, or the negated errno. `FileStorage` turns short counts and
/// interruptions into whole transfers; tests give it calls that fail.
package protocol SystemCalls: Sendable {
  func read(_ descriptor: CInt, into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) -> Int
  func write(_ descriptor: CInt, from buffer: UnsafeRawBufferPointer, at offset: UInt64) -> Int
  func sync(_ descriptor: CInt, kind: SyncKind) -> CInt
  func truncate(_ descriptor: CInt, to length: UInt64) -> CInt
}

/// How much a flush makes durable.
package enum SyncKind: Sendable {
  /// The content of the file and its length.
  case data
  /// All of the file's metadata too; for new files and folders.
  case all
}

/// The system's own calls.
package struct NativeSystemCalls: SystemCalls {
  package init() {}

  package func read(_ descriptor: CInt, into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) -> Int
  {
    let count = pread(descriptor, buffer.baseAddress, buffer.count, off_t(offset))
    return count < 0 ? -Int(errno) : count
  }

  package func write(_ descriptor: CInt, from buffer: UnsafeRawBufferPointer, at offset: UInt64) -> Int {
    let count = pwrite(descriptor, buffer.baseAddress, buffer.count, off_t(offset))
    return count < 0 ? -Int(errno) : count
  }

  package func sync(_ descriptor: CInt, kind: SyncKind) -> CInt {
    cp_sync(descriptor, CInt((kind == .data ? CP_SYNC_DATA : CP_SYNC_ALL).rawValue))
  }

  package func truncate(_ descriptor: CInt, to length: UInt64) -> CInt {
    ftruncate(descriptor, off_t(length)) == 0 ? 0 : errno
  }
}

extension StorageError {
  /// The disk is full, or what this user or a file may take of it.
  var isForWantOfSpace: Bool {
    guard case .system(call: .write, let number, _, _) = self else { return false }
    return [ENOSPC, EDQUOT, EFBIG].contains(number)
  }
}

/// The system's words for an error number.
func systemMessage(_ number: CInt) -> String {
  var buffer = [CChar](repeating: 0, count: 256)
  guard strerror_r(number, &buffer, buffer.count) == 0 else { return "unknown error" }
  return buffer.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
}
