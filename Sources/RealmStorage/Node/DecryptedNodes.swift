import Synchronization

/// The content of sealed nodes, unsealed: a range of addresses in which each node stands where it stands in the file.
///
/// So an encrypted file is read like a plain one: a bit says that the node is there, its place says where. Memory is
/// bounded: over the limit, the chunk filled longest ago is forgotten and its memory given back.
///
/// Rules, so that no reader finds its bytes gone:
/// 1. Readers announce themselves in one of two counters, by the current phase, before they look at a bit.
/// 2. To forget a chunk, its bits are cleared first; its memory is given back after each counter was seen at zero
///    since then. Phases change so that each counter falls to zero while new readers use the other.
/// 3. Filling a chunk, before unsealing and again when the bit is set, takes it off the list of those to be forgotten.
package final class DecryptedNodes: Sendable {
  static let chunk = 64 * 1024

  let memory: Mapping
  private let limit: Int
  private let phase = Atomic<Int>(0)
  private let readers: ReaderCounts
  private let state: Mutex<State>

  private struct State {
    /// Chunks that hold memory, the one filled longest ago first.
    var resident: [Int] = []
    var isResident: Set<Int> = []
    var forgetting: [Int: Grace] = [:]
  }

  /// Which reader counters were seen at zero since a chunk's bits were cleared.
  private struct Grace {
    var first = false
    var second = false
    var isOver: Bool { first && second }
  }

  /// `limit` is the memory for content, in bytes; at least four of the longest nodes.
  init?(size: Int, limit: Int) {
    guard let memory = Mapping.anonymous(size) else { return nil }
    self.memory = memory
    self.limit = max(limit, 4 * Ref.maximumLength)
    readers = ReaderCounts()
    state = Mutex(State())
  }

  func enter() -> ReaderCounts.Slot {
    let slot = readers.slot(phase: phase.load(ordering: .relaxed))
    slot.enter()
    return slot
  }

  /// Makes room for a node before it is unsealed, forgetting others where the limit asks for it.
  func willFill(_ bytes: Range<Int>, seen: SeenNodes) {
    state.withLock { state in
      advance(&state, seen: seen)
      for chunk in Self.chunks(bytes) {
        state.forgetting[chunk] = nil
        if state.isResident.insert(chunk).inserted { state.resident.append(chunk) }
      }
      let keep = Set(Self.chunks(bytes))
      var excess = (state.isResident.count - state.forgetting.count) - limit / Self.chunk
      while excess > 0, let position = state.resident.firstIndex(where: { !keep.contains($0) && state.forgetting[$0] == nil }) {
        let victim = state.resident.remove(at: position)
        state.resident.append(victim)
        clearBits(of: victim, seen: seen)
        state.forgetting[victim] = Grace()
        excess -= 1
      }
      advance(&state, seen: seen)
    }
  }

  /// Marks a node as there after it was unsealed.
  func didFill(_ bytes: Range<Int>, unit: UInt64, birth: UInt64, seen: SeenNodes) {
    state.withLock { state in
      for chunk in Self.chunks(bytes) { state.forgetting[chunk] = nil }
      seen.insert(unit: unit, birth: birth)
    }
  }

  private func advance(_ state: inout State, seen: SeenNodes) {
    guard !state.forgetting.isEmpty else { return }
    let current = phase.load(ordering: .relaxed)
    let isFree = (readers.isZero(phase: 0), readers.isZero(phase: 1))
    for (chunk, grace) in state.forgetting {
      var grace = grace
      if isFree.0 { grace.first = true }
      if isFree.1 { grace.second = true }
      guard grace.isOver else {
        state.forgetting[chunk] = grace
        continue
      }
      state.forgetting[chunk] = nil
      state.isResident.remove(chunk)
      state.resident.removeAll { $0 == chunk }
      memory.discard(chunk * Self.chunk..<min((chunk + 1) * Self.chunk, memory.size))
    }
    phase.store(1 - current, ordering: .sequentiallyConsistent)
  }

  /// A node that ends in the chunk may start up to its greatest length before it.
  private func clearBits(of chunk: Int, seen: SeenNodes) {
    let start = max(0, chunk * Self.chunk - Ref.maximumLength - 4096)
    seen.removeAll(inPages: start / 4096..<min((chunk + 1) * Self.chunk, memory.size) / 4096)
  }

  private static func chunks(_ bytes: Range<Int>) -> ClosedRange<Int> {
    bytes.lowerBound / chunk...(bytes.upperBound - 1) / chunk
  }
}

/// Two sets of counters of readers at work, spread over cache lines so that threads seldom share one.
struct ReaderCounts: @unchecked Sendable {
  // Sendable: every access is atomic.
  private static let stripes = 64
  private static let wordsPerStripe = 8
  private let memory: Mapping

  init() {
    guard let memory = Mapping.anonymous(2 * Self.stripes * Self.wordsPerStripe * 8) else {
      preconditionFailure("no memory for a page of counters")
    }
    self.memory = memory
  }

  struct Slot: @unchecked Sendable {
    fileprivate let word: UnsafeMutablePointer<Atomic<Int>>
    func enter() { word.pointee.add(1, ordering: .sequentiallyConsistent) }
    func leave() { word.pointee.subtract(1, ordering: .releasing) }
  }

  func slot(phase: Int) -> Slot {
    Slot(word: word(phase: phase, stripe: ThreadStripe.current % Self.stripes))
  }

  func isZero(phase: Int) -> Bool {
    // A reader leaves in the stripe it entered in, so a stripe at zero holds none of the readers of before; one that
    // enters after its stripe was read looks at bits cleared already.
    (0..<Self.stripes).allSatisfy { word(phase: phase, stripe: $0).pointee.load(ordering: .sequentiallyConsistent) == 0 }
  }

  private func word(phase: Int, stripe: Int) -> UnsafeMutablePointer<Atomic<Int>> {
    let words = memory.base.assumingMemoryBound(to: Atomic<Int>.self)
    return words + (phase * Self.stripes + stripe) * Self.wordsPerStripe
  }
}
