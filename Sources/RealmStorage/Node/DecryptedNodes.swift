import Synchronization

/// The unsealed content of sealed nodes: a range of addresses in which each node has the same offset as in the file.
///
/// So an encrypted file is read like a plain one: a bit says that the node is there, and its place says where. The
/// memory is bounded: above the limit, the chunk that was filled longest ago is forgotten and its memory is given back.
///
/// These rules make sure that no reader finds its bytes gone:
/// 1. Readers announce themselves in one of two counters, by the current phase, before they look at a bit.
/// 2. To forget a chunk, its bits are cleared first. Its memory is given back after each counter was seen at zero since
///    then. Phases change so that each counter falls to zero while new readers use the other.
/// 3. A chunk that is filled is taken off the list of chunks to be forgotten, before unsealing and again when the bit
///    is set.
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
    /// The chunk is being forgotten. The cases say which counters were seen at zero since its bits were cleared: none,
    /// the first, or the second. When both were seen, the chunk is absent.
    case leaving, leavingFirstSeen, leavingSecondSeen
  }

  private struct State {
    /// The condition of each chunk, up to the last chunk that was filled. Each filling needs it.
    var conditions: [Condition] = []
    /// The number of chunks that hold memory.
    var residentCount = 0
    /// Chunks in the order in which they were filled. Chunks that are no longer resident, or are being forgotten, are
    /// skipped.
    var queue: [Int] = []
    var head = 0
    /// The chunks that are being forgotten, by condition. Only `conditions` decides: the lists may have chunks that
    /// were kept after all, and a chunk may be in a list twice.
    var leaving: [Condition: [Int]] = [:]
    var leavingCount = 0

    func condition(_ chunk: Int) -> Condition { chunk < conditions.count ? conditions[chunk] : .absent }

    mutating func hold(_ chunk: Int) {
      while conditions.count <= chunk { conditions.append(.absent) }
      switch conditions[chunk] {
      case .resident: return
      case .absent: residentCount += 1
      case .leaving, .leavingFirstSeen, .leavingSecondSeen: leavingCount -= 1
      }
      conditions[chunk] = .resident
      queue.append(chunk)
    }

    mutating func leave(_ chunk: Int) {
      conditions[chunk] = .leaving
      leaving[.leaving, default: []].append(chunk)
      leavingCount += 1
    }

    /// Takes the chunks of a condition off its list.
    mutating func take(_ condition: Condition) -> [Int] {
      leaving.removeValue(forKey: condition)?.filter { conditions[$0] == condition } ?? []
    }

    /// Rebuilds the lists if too many of their entries are out of date. This happens when a reader stays long, so that
    /// no chunk can be forgotten.
    mutating func tidy() {
      guard leaving.values.reduce(0, { $0 + $1.count }) > 2 * leavingCount + 64 else { return }
      leaving = [:]
      for (chunk, condition) in conditions.enumerated() where condition != .absent && condition != .resident {
        leaving[condition, default: []].append(chunk)
      }
    }
  }

  /// Nil if no range of addresses is left.
  ///
  /// - Parameter limit: The memory for content, in bytes. It is raised to four times the longest node if it is less.
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

  /// Makes room for a node before it is unsealed. Forgets other chunks if the limit requires it.
  func willFill(_ bytes: Range<Int>, seen: SeenNodes) {
    state.withLock { state in
      let chunks = Self.chunks(bytes)
      for chunk in chunks { state.hold(chunk) }
      var excess = state.residentCount - state.leavingCount - limit / Self.chunk
      while excess > 0, state.head < state.queue.count {
        let chunk = state.queue[state.head]
        state.head += 1
        if chunks.contains(chunk) {
          state.queue.append(chunk)
        } else if state.condition(chunk) == .resident {
          clearBits(of: chunk, seen: seen)
          state.leave(chunk)
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

  /// Marks a node as present after it was unsealed.
  func didFill(_ bytes: Range<Int>, unit: UInt64, birth: UInt64, seen: SeenNodes) {
    state.withLock { state in
      for chunk in Self.chunks(bytes) { state.hold(chunk) }
      seen.insert(unit: unit, birth: birth)
    }
  }

  /// The number of bytes of memory that the content takes.
  var residentBytes: Int { state.withLock { $0.residentCount * Self.chunk } }

  /// Must be called only once for each filling. After two calls the phase would be the same as before, and one counter
  /// would never be zero.
  private func advance(_ state: inout State) {
    guard state.leavingCount > 0 else { return }
    let counters: [(isFree: Bool, seen: Condition, otherSeen: Condition)] = [
      (readers.isZero(phase: 0), .leavingFirstSeen, .leavingSecondSeen),
      (readers.isZero(phase: 1), .leavingSecondSeen, .leavingFirstSeen),
    ]
    for counter in counters where counter.isFree {
      // Chunks that wait only for this counter are gone now. Chunks that wait for both now wait for the other one.
      for chunk in state.take(counter.otherSeen) where state.conditions[chunk] != .absent {
        state.conditions[chunk] = .absent
        state.residentCount -= 1
        state.leavingCount -= 1
        memory.discard(chunk * Self.chunk..<min((chunk + 1) * Self.chunk, memory.size))
      }
      let next = state.take(.leaving)
      for chunk in next { state.conditions[chunk] = counter.seen }
      state.leaving[counter.seen, default: []] += next
    }
    state.tidy()
    phase.store(1 - phase.load(ordering: .relaxed), ordering: .sequentiallyConsistent)
  }

  /// Clears the bits of all nodes in the chunk. A node that ends in it may start before it, up to the greatest length
  /// of a node.
  private func clearBits(of chunk: Int, seen: SeenNodes) {
    let start = max(0, chunk * Self.chunk - Ref.maximumLength - 4096)
    seen.removeAll(inPages: start / 4096..<min((chunk + 1) * Self.chunk, memory.size) / 4096)
  }

  private static func chunks(_ bytes: Range<Int>) -> ClosedRange<Int> {
    bytes.lowerBound / chunk...(bytes.upperBound - 1) / chunk
  }
}

/// Two sets of counters of active readers, spread over cache lines so that threads seldom share one.
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
    // A reader leaves in the stripe that it entered in, so a stripe at zero has no readers from before. A reader that
    // enters after its stripe was read finds the bits cleared already.
    (0..<Self.stripes).allSatisfy {
      word(phase: phase, stripe: $0).pointee.load(ordering: .sequentiallyConsistent) == 0
    }
  }

  private func word(phase: Int, stripe: Int) -> UnsafeMutablePointer<Atomic<Int>> {
    let words = memory.base.assumingMemoryBound(to: Atomic<Int>.self)
    return words + (phase * Self.stripes + stripe) * Self.wordsPerStripe
  }
}
