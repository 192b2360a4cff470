import Synchronization

/// Words that all participants of a database see at once. Each access is atomic.
package final class SharedMemory: Sendable {
  private let mapping: Mapping

  package init(_ mapping: Mapping) { self.mapping = mapping }

  /// Memory of this process alone.
  package static func local(_ size: Int) -> SharedMemory? { Mapping.anonymous(size).map(SharedMemory.init) }

  package subscript(word index: Int) -> UInt64 {
    get { atomic(index).pointee.load(ordering: .sequentiallyConsistent) }
    set { atomic(index).pointee.store(newValue, ordering: .sequentiallyConsistent) }
  }

  private func atomic(_ index: Int) -> UnsafeMutablePointer<Atomic<UInt64>> {
    precondition(index >= 0 && (index + 1) * 8 <= mapping.size, "word outside of the shared memory")
    // Atomic<UInt64> has the layout of the word it holds.
    return (mapping.base + index * 8).assumingMemoryBound(to: Atomic<UInt64>.self)
  }
}
