/// Says what happens to a file when the server has another history than the file. This is so if the server was restored from a
/// copy, for example, or if the device was offline for longer than the server keeps its history.
///
/// In all modes except `manual`, one write transaction brings the file to the data of the server. Objects that the server still
/// has stay valid, and open realms see the change like any other.
///
/// The closures are called on a thread of device sync. They may use the realms that they get only there, and only until they
/// return.
public enum ClientResetMode: Sendable {
  /// The session ends with the error `SyncError.clientResetError`, and the app decides what happens to the file; see
  /// `SyncError.clientResetInfo()`. The error is passed to `errorHandler`; if that is nil, to `SyncManager.errorHandler`.
  case manual(errorHandler: ErrorReportingBlock? = nil)
  /// Changes that the server does not have yet are dropped. If the reset fails, the session ends with
  /// `SyncError.clientResetError`, as with `manual`.
  ///
  /// `beforeReset` gets a frozen realm with the state before the reset. `afterReset` gets the same realm, and a realm with the
  /// state after it.
  case discardUnsyncedChanges(
    beforeReset: (@Sendable (_ before: Realm) -> Void)? = nil,
    afterReset: (@Sendable (_ before: Realm, _ after: Realm) -> Void)? = nil)
  /// Changes that the server does not have yet are made again on top of the data of the server, and uploaded. If the reset fails,
  /// the session ends with `SyncError.clientResetError`, as with `manual`. This is the default mode.
  ///
  /// `beforeReset` gets a frozen realm with the state before the reset. `afterReset` gets the same realm, and a realm with the
  /// state after it.
  case recoverUnsyncedChanges(
    beforeReset: (@Sendable (_ before: Realm) -> Void)? = nil,
    afterReset: (@Sendable (_ before: Realm, _ after: Realm) -> Void)? = nil)
  /// The file is reset as with `recoverUnsyncedChanges`. If that fails, it is reset as with `discardUnsyncedChanges`.
  ///
  /// `beforeReset` gets a frozen realm with the state before the reset. `afterReset` gets the same realm, and a realm with the
  /// state after it.
  case recoverOrDiscardUnsyncedChanges(
    beforeReset: (@Sendable (_ before: Realm) -> Void)? = nil,
    afterReset: (@Sendable (_ before: Realm, _ after: Realm) -> Void)? = nil)

  /// The former name of `discardUnsyncedChanges(beforeReset:afterReset:)`. It returns that case.
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

  /// The closures to call before and after a reset. The mode `manual` has none.
  var callbacks: Callbacks {
    switch self {
    case .manual: Callbacks()
    case .discardUnsyncedChanges(let before, let after), .recoverUnsyncedChanges(let before, let after),
      .recoverOrDiscardUnsyncedChanges(let before, let after):
      Callbacks(before: before, after: after)
    }
  }
}
