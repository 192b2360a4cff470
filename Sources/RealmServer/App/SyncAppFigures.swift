import RealmStorage

/// The figures that tell the administrator of a server how an app is doing.
public struct SyncAppFigures: Sendable, Equatable {
  /// The version of the last change that has come, and the version of the last change that is integrated.
  public var end: UInt64 = 0
  public var integrated: UInt64 = 0
  /// The history begins behind this version.
  public var horizon: UInt64 = 0
  /// The number of files of clients that are not given up.
  public var replicas = 0
  /// The oldest version of all files that are not given up. The history behind it is kept for that file.
  /// `oldestReplica` and `oldestUser` name the file and its user.
  public var oldestCursor: UInt64 = 0
  public var oldestReplica: UInt64?
  public var oldestUser: String?
  public var connections = 0
  public var channels = 0
  /// The number of sessions whose queries can't be looked up by values, so that each change is compared with the
  /// queries of each of them.
  public var unroutedSessions = 0
  /// The number of bytes that were made for clients and have not left the machine.
  public var unsentBytes = 0
  /// The number of objects, classes and properties that were refused since the server was started, by the number of the
  /// reason.
  public var refusals: [UInt8: Int] = [:]
  /// The size of the app's file, in bytes.
  public var fileBytes: UInt64 = 0
  /// The size of the history in that file, in bytes, about.
  public var historyBytes: UInt64 = 0
  /// How often since the server was started the oldest history was removed although files may have needed it, because
  /// the history had too many bytes.
  public var historyCuts = 0
  /// Why nothing is integrated any more; nil if the server goes on.
  public var halt: String?
}

extension SyncApp {
  /// Returns the figures as they are now.
  ///
  /// - Throws: `StorageError`.
  /// - Complexity: The time is in proportion to the number of files.
  public func figures() throws(StorageError) -> SyncAppFigures {
    var figures = SyncAppFigures()
    let state = node.state
    (figures.end, figures.integrated, figures.horizon) = (node.end, state.version, state.horizon)
    figures.replicas = state.replicas.values.count { !$0.isRetired }
    (figures.connections, figures.channels) = counts
    (figures.unroutedSessions, figures.refusals) = (server.routes.countOfUnrouted, server.refusals)
    figures.unsentBytes = server.unsentBytes
    figures.fileBytes = try database.fileBytes
    let transaction = try database.beginWrite()
    defer { transaction.cancel() }
    (figures.historyBytes, figures.historyCuts) = (try state.historyBytes(transaction), server.cuts)
    figures.oldestCursor = state.version
    if let oldest = try state.oldest(transaction) {
      figures.oldestCursor = oldest.version
      (figures.oldestReplica, figures.oldestUser) = (oldest.replica, state.replicas[oldest.replica]?.user)
    }
    switch node.halt {
    case nil: break
    case .unknownSemantics(let number, let version):
      figures.halt =
        "What comes behind the version \(version) is integrated by the rules \(number), which this server does not know: "
        + "a newer one goes on."
    case .otherState(let version):
      figures.halt = "Another node has made something else of the log up to the version \(version)."
    }
    return figures
  }

  /// Why no client is served although the file can be read and written: the clock of the machine is more than a day
  /// ahead of the last change, so that one of the two is wrong. It is nil if clients are served.
  public func clockProblem(time: UInt64) -> String? {
    guard !server.isClockRight(time) else { return nil }
    return
      "The clock of this machine is more than a day ahead of the last change. If it is right, start the server with --accept-clock."
  }

  /// Copies the file as it is now, while the server goes on.
  ///
  /// - Parameter encryptionKey: the key of the copy.
  /// - Throws: `StorageError`, also if there is a file at `path` already.
  public func backup(to path: String, encryptionKey: [UInt8]? = nil) throws(StorageError) {
    try snapshot().copy(to: path, encryptionKey: encryptionKey)
  }

  /// Takes a snapshot of the file, which may be copied on another thread.
  ///
  /// - Throws: `StorageError`.
  public func snapshot() throws(StorageError) -> Snapshot { try database.snapshot() }
}
