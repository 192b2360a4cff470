import Synchronization

/// Words that all participants of a database share. Each access is atomic.
package final class SharedMemory: Sendable {
  private let mapping: Mapping
  private let extend: @Sendable (_ bytes: Int) throws(StorageError) -> Void

  /// - Parameter extend: Makes sure that this number of bytes, counted from the start, may be touched.
  package init(
    _ mapping: Mapping, extend: @escaping @Sendable (_ bytes: Int) throws(StorageError) -> Void
  ) {
    self.mapping = mapping
    self.extend = extend
  }

  /// Memory of this process alone.
  package static func local(_ size: Int) -> SharedMemory? {
    Mapping.anonymous(size).map { mapping in SharedMemory(mapping) { (_) throws(StorageError) in } }
  }

  /// Makes room for `bytes` bytes from the start. The existing content stays.
  ///
  /// - Throws: `.system` when the disk is full.
  package func reserve(_ bytes: Int) throws(StorageError) {
    precondition(bytes <= mapping.size, "more shared memory than was mapped")
    try extend(bytes)
  }

  package subscript(word index: Int) -> UInt64 {
    get { atomic(index).pointee.load(ordering: .sequentiallyConsistent) }
    set { atomic(index).pointee.store(newValue, ordering: .sequentiallyConsistent) }
  }

  /// Sets a word to zero.
  ///
  /// A word that is zero already is not written, because the system makes pages writable one by one, which would take
  /// longer than all the rest.
  ///
  /// - Precondition: No other thread or process changes the word.
  package func clear(word index: Int) {
    if self[word: index] != 0 { self[word: index] = 0 }
  }

  /// Replaces a word if it still has the value `expected`. Returns whether it did.
  package func exchange(word index: Int, from expected: UInt64, to value: UInt64) -> Bool {
    atomic(index).pointee.compareExchange(
      expected: expected, desired: value, ordering: .sequentiallyConsistent
    ).exchanged
  }

  package func add(_ value: UInt64, toWord index: Int) {
    atomic(index).pointee.wrappingAdd(value, ordering: .sequentiallyConsistent)
  }

  /// Memory of this process alone. It starts with a copy of the first `bytes` bytes.
  package func copy(_ bytes: Int) -> SharedMemory? {
    guard bytes <= mapping.size, let copy = Mapping.anonymous(mapping.size) else { return nil }
    copy.base.copyMemory(from: mapping.base, byteCount: bytes)
    return SharedMemory(copy) { (_) throws(StorageError) in }
  }

  private func atomic(_ index: Int) -> UnsafeMutablePointer<Atomic<UInt64>> {
    precondition(index >= 0 && (index + 1) * 8 <= mapping.size, "word outside of the shared memory")
    // Atomic<UInt64> has the layout of the word it holds.
    return (mapping.base + index * 8).assumingMemoryBound(to: Atomic<UInt64>.self)
  }
}
