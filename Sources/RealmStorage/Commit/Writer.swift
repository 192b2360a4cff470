/// How durable a commit is when it returns.
public enum Durability: Sendable {
  /// The commit survives a loss of power.
  case full
  /// The commit survives the death of the process. A loss of power may undo it, together with all commits after it. It becomes
  /// durable with the next full commit, with `Database.flush()`, or when the database is closed.
  case relaxed
}

/// Writes versions: the only part of the engine that changes a file. It has three parts, each with a lock of its own:
/// - the gate of transactions, inside which one thread at a time makes nodes in memory;
/// - the writer of pages, in which one thread at a time writes nodes into the file and allocates its space;
/// - the leader of commits, the one thread that makes commits durable.
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
