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

  private enum Condition: UInt8 {
    case absent
    case resident
    /// Being forgotten, by the counters seen at zero since its bits were cleared: none, the first, the second. Seen both, it is
    /// gone.
    case leaving, leavingFirstSeen, leavingSecondSeen
  }

  private struct State {
    /// By chunk, up to the last that was filled: asked for at each filling.
    var conditions: [Condition] = []
    /// Chunks that hold memory.
    var residentCount = 0
    /// Chunks in the order they were filled; those no longer resident, or being forgotten, are passed over.
    var queue: [Int] = []
    var head = 0
    /// Those being forgotten.
    var leaving: [Int] = []

    func condition(_ chunk: Int) -> Condition { chunk < conditions.count ? conditions[chunk] : .absent }

    mutating func hold(_ chunk: Int) {
      while conditions.count <= chunk { conditions.append(.absent) }
      switch conditions[chunk] {
      case .resident: return
      case .absent: residentCount += 1
      case .leaving, .leavingFirstSeen, .leavingSecondSeen: leaving.removeAll { $0 == chunk }
      }
      conditions[chunk] = .resident
      queue.append(chunk)
    }
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
      let chunks = Self.chunks(bytes)
      for chunk in chunks { state.hold(chunk) }
      var excess = state.residentCount - state.leaving.count - limit / Self.chunk
      while excess > 0, state.head < state.queue.count {
        let chunk = state.queue[state.head]
        state.head += 1
        if chunks.contains(chunk) {
          state.queue.append(chunk)
        } else if state.condition(chunk) == .resident {
          clearBits(of: chunk, seen: seen)
          state.conditions[chunk] = .leaving
          state.leaving.append(chunk)
          excess -= 1
        }
        if state.head > 4096 {
          state.queue.removeFirst(state.head)
          state.head = 0
        }
      }
      advance(&state)
    }
  }

  /// Marks a node as there after it was unsealed.
  func didFill(_ bytes: Range<Int>, unit: UInt64, birth: UInt64, seen: SeenNodes) {
    state.withLock { state in
      for chunk in Self.chunks(bytes) { state.hold(chunk) }
      seen.insert(unit: unit, birth: birth)
    }
  }

  /// Bytes of memory the content takes.
  var residentBytes: Int { state.withLock { $0.residentCount * Self.chunk } }

  /// Called once for each filling: called twice, the phase would be where it was and one counter never at zero.
  private func advance(_ state: inout State) {
    guard !state.leaving.isEmpty else { return }
    let (isFirstFree, isSecondFree) = (readers.isZero(phase: 0), readers.isZero(phase: 1))
    var rest: [Int] = []
    for chunk in state.leaving {
      let condition = state.conditions[chunk]
      let wasFirstSeen = condition == .leavingFirstSeen || isFirstFree
      let wasSecondSeen = condition == .leavingSecondSeen || isSecondFree
      if wasFirstSeen, wasSecondSeen {
        state.conditions[chunk] = .absent
        state.residentCount -= 1
        memory.discard(chunk * Self.chunk..<min((chunk + 1) * Self.chunk, memory.size))
      } else {
        if wasFirstSeen { state.conditions[chunk] = .leavingFirstSeen }
        if wasSecondSeen { state.conditions[chunk] = .leavingSecondSeen }
        rest.append(chunk)
      }
    }
    state.leaving = rest
    phase.store(1 - phase.load(ordering: .relaxed), ordering: .sequentiallyConsistent)
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
    (0..<Self.stripes).allSatisfy {
      word(phase: phase, stripe: $0).pointee.load(ordering: .sequentiallyConsistent) == 0
    }
  }

  private func word(phase: Int, stripe: Int) -> UnsafeMutablePointer<Atomic<Int>> {
    let words = memory.base.assumingMemoryBound(to: Atomic<Int>.self)
    return words + (phase * Self.stripes + stripe) * Self.wordsPerStripe
  }
}
