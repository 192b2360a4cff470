#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A range of addresses that is kept until the last reference to it is released.
///
/// Pages that were never touched cost nothing. A range is therefore made far larger than its first content, so that
/// addresses stay valid as the content grows.
package final class Mapping: @unchecked Sendable {
  // Sendable: base and size never change. The owner decides which threads write the bytes.
  package let base: UnsafeMutableRawPointer
  package let size: Int

  private init(base: UnsafeMutableRawPointer, size: Int) {
    self.base = base
    self.size = size
  }

  deinit { munmap(base, size) }

  /// Zeroed private memory; nil if the system has no range of addresses of this size left.
  package static func anonymous(_ size: Int) -> Mapping? {
    #if canImport(Darwin)
      let flags = MAP_PRIVATE | MAP_ANON | MAP_NORESERVE
    #else
      let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE
    #endif
    return make(size, protection: PROT_READ | PROT_WRITE, flags: flags, descriptor: -1)
  }

  /// The bytes of a file from its start, shared with all processes that map it. `size` may exceed the length of the
  /// file.
  package static func file(_ descriptor: CInt, size: Int, writable: Bool = false) -> Mapping? {
    make(
      size, protection: writable ? PROT_READ | PROT_WRITE : PROT_READ, flags: MAP_SHARED,
      descriptor: descriptor)
  }

  private static func make(_ size: Int, protection: CInt, flags: CInt, descriptor: CInt) -> Mapping? {
    guard let base = mmap(nil, size, protection, flags, descriptor, 0), base != MAP_FAILED else { return nil }
    return Mapping(base: base, size: size)
  }

  /// Asks for large pages from an offset on, or from one offset to another. The first access then brings in 2 MiB of
  /// memory in one step instead of 4 KiB, and reads 2 MiB of a file in one step. This is a hint.
  package func preferLargePages(from offset: Int = 0, to end: Int? = nil) {
    let end = min(end ?? size, size)
    precondition(offset >= 0 && offset <= end && offset % 4096 == 0, "no pages of the mapping")
    #if os(Linux)
      madvise(base + offset, end - offset, MADV_HUGEPAGE)
    #endif
  }

  /// Returns the memory of whole pages to the system. The pages read as zeros again. Only for private memory.
  package func discard(_ range: Range<Int>) {
    precondition(range.lowerBound >= 0 && range.upperBound <= size, "discard outside of the mapping")
    guard !range.isEmpty else { return }
    #if canImport(Darwin)
      // MADV_DONTNEED keeps the content on Apple systems; mapping anew does not.
      mmap(
        base + range.lowerBound, range.count, PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANON | MAP_NORESERVE | MAP_FIXED, -1, 0)
    #else
      madvise(base + range.lowerBound, range.count, MADV_DONTNEED)
    #endif
  }
}
