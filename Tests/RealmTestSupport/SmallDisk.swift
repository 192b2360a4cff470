import RealmStorage
import Synchronization

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A disk that is full as soon as a file would become longer than `size`.
package final class SmallDisk: SystemCalls {
  /// The greatest length of a file in bytes.
  package let size: Atomic<Int>

  package init(size: Int = .max) { self.size = Atomic(size) }

  package func write(_ descriptor: CInt, from buffer: UnsafeRawBufferPointer, at offset: UInt64) -> Int {
    let room = size.load(ordering: .acquiring) - Int(offset)
    guard room > 0 else { return -Int(ENOSPC) }
    return NativeSystemCalls().write(
      descriptor, from: UnsafeRawBufferPointer(rebasing: buffer.prefix(room)), at: offset)
  }
}
