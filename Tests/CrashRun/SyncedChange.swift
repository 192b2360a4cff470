import RealmStorage
import RealmSyncSupport
import RealmTestSupport

/// The changes that one transaction of a program makes in a client's file and in its twin.
struct SyncedChange {
  private let seed: UInt64
  private let time: UInt64
  private let changes: Int
  private let isLong: Bool
  let isCancelled: Bool
  let durability: Durability

  init(_ generator: inout SeededGenerator, time: UInt64) {
    seed = generator.next()
    self.time = time
    changes = 1 + generator.below(4)
    isLong = generator.below(500) == 0
    isCancelled = generator.chance(10)
    durability = generator.chance(60) ? .full : .relaxed
  }

  /// Makes changes. They are the same in two files that have the same content.
  func make(_ transaction: WriteTransaction, keys: Int) throws {
    var generator = SeededGenerator(seed: seed)
    try transaction.setTime(time)
    try ModelClass.change(transaction, keys: keys, changes: changes, &generator)
    if isLong { try CommitNotes.writeLong(transaction, slot: 0, number: generator.below(9)) }
  }
}
