/// How sure a commit is when it returns.
public enum Durability: Sendable {
  /// Survives power loss.
  case full
  /// Survives the death of the process; power loss may take it, and with it only commits after it. Becomes durable
  /// with the next full commit, or when the database closes.
  case relaxed
}

/// Writes versions: the one place that changes a file. It has three parts, each behind a lock of its own:
/// - the gate of transactions, inside which one thread at a time makes nodes in memory;
/// - the writer of pages, where one thread at a time puts nodes into the file and asks for its space;
/// - the leader of commits: the one thread that takes what was committed to the disk.
final class Writer: Sendable {
  let context: WriterContext
  let gate: TransactionGate
  let pages: GatedState<PageWriter>
  let leader: CommitLeader

  init(
    _ store: NodeStore, _ held: HeldVersions, _ tables: SharedTables, _ meta: MetaPageWriter, key: [UInt8]?,
    _ options: DatabaseOptions
  ) {
    let editor = NodeEditor(store: store, arena: NodeArena(refWidth: store.refWidth, capacity: 1 << 36))
    context = WriterContext(
      store, held, tables.block, meta, namedVersionLimit: options.namedVersionLimit)
    pages = GatedState(
      PageWriter(context, arena: editor.arena, ring: tables.ring, slack: options.compaction.slack))
    leader = CommitLeader(context, pages)
    gate = TransactionGate(context, editor, pages, leader, tables, key: key, options)
  }
}
