/// What happens to a file when its server has another history: the server was restored from a copy, say, or the device was
/// away for longer than the server keeps what has changed.
///
/// In all modes but `manual` the file is brought to what the server has in one write transaction. Objects that the server
/// still has stay valid, and open realms see a change as any other.
///
/// The blocks are called on a thread of device sync. Realms that they get are to be used only there, until the block returns.
public enum ClientResetMode: Sendable {
  /// The session ends with the error `SyncError.clientResetError`, and the app says what happens to the file; see
  /// `SyncError.clientResetInfo()`. The error goes to `errorHandler`; where that is nil, to `SyncManager.errorHandler`.
  case manual(errorHandler: ErrorReportingBlock? = nil)
  /// Changes that the server does not have yet are dropped. If that fails, the session ends with the error `SyncError.clientResetError`, as with `manual`.
  ///
  /// `beforeReset` gets a frozen realm of the file as it is; `afterReset` the same one, and the realm as it is then.
  case discardUnsyncedChanges(
    beforeReset: (@Sendable (_ before: Realm) -> Void)? = nil,
    afterReset: (@Sendable (_ before: Realm, _ after: Realm) -> Void)? = nil)
  /// Changes that the server does not have yet are made again on top of what the server has, and uploaded. If that
  /// fails, the session ends with the error `SyncError.clientResetError`, as with `manual`. This is the mode of a configuration that names none.
  ///
  /// `beforeReset` gets a frozen realm of the file as it is; `afterReset` the same one, and the realm as it is then.
  case recoverUnsyncedChanges(
    beforeReset: (@Sendable (_ before: Realm) -> Void)? = nil,
    afterReset: (@Sendable (_ before: Realm, _ after: Realm) -> Void)? = nil)
  /// As `recoverUnsyncedChanges`; if that fails, as `discardUnsyncedChanges`.
  ///
  /// `beforeReset` gets a frozen realm of the file as it is; `afterReset` the same one, and the realm as it is then.
  case recoverOrDiscardUnsyncedChanges(
    beforeReset: (@Sendable (_ before: Realm) -> Void)? = nil,
    afterReset: (@Sendable (_ before: Realm, _ after: Realm) -> Void)? = nil)

  /// The former name of `discardUnsyncedChanges(beforeReset:afterReset:)`, which it makes.
  @available(*, deprecated, renamed: "discardUnsyncedChanges(beforeReset:afterReset:)")
  public static func discardLocal(
    beforeReset: (@Sendable (_ before: Realm) -> Void)? = nil,
    afterReset: (@Sendable (_ before: Realm, _ after: Realm) -> Void)? = nil
  ) -> ClientResetMode {
    .discardUnsyncedChanges(beforeReset: beforeReset, afterReset: afterReset)
  }
}

extension ClientResetMode {
  struct Callbacks: Sendable {
    var before: (@Sendable (_ before: Realm) -> Void)?
    var after: (@Sendable (_ before: Realm, _ after: Realm) -> Void)?
  }

  /// The blocks to call before and after a reset. A manual one has none.
  var callbacks: Callbacks {
    switch self {
    case .manual: Callbacks()
    case .discardUnsyncedChanges(let before, let after), .recoverUnsyncedChanges(let before, let after),
      .recoverOrDiscardUnsyncedChanges(let before, let after):
      Callbacks(before: before, after: after)
    }
  }
}
