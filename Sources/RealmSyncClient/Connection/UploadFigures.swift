import RealmStorage

/// The progress of uploads since the file was opened: the bytes of changesets that the server has decided, and the
/// bytes of all changesets, as they stand in the file.
struct UploadFigures {
  private(set) var done: UInt64 = 0
  private(set) var total: UInt64 = 0
  /// The pending changesets with their sizes, the oldest first.
  private var pending: [Pending] = []

  private struct Pending {
    let sequence: UInt64
    let bytes: UInt64
  }

  /// Looks at what is pending now. Returns true if the figures have changed.
  mutating func update(_ snapshot: Snapshot) throws(StorageError) -> Bool {
    let old = (done, total)
    let first = try snapshot.firstPendingSequence()
    let gone = pending.prefix { $0.sequence < first }
    done += gone.reduce(0) { $0 + $1.bytes }
    pending.removeFirst(gone.count)
    var (added, bytes): ([Pending], UInt64) = ([], 0)
    try snapshot.changelog()?.forEach(from: (pending.last?.sequence).map { $0 + 1 } ?? 0, snapshot) {
      changeset in
      let size = UInt64(changeset.bytes.count)
      added.append(Pending(sequence: changeset.sequence, bytes: size))
      bytes += size
      return true
    }
    pending += added
    total += bytes
    return old != (done, total)
  }
}
