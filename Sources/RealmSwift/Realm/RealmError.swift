public import Foundation
import RealmStorage

extension Realm {
  /// Why a realm could not be opened, written or copied.
  ///
  /// It stands for an `NSError` of the domain `io.realm`: `catch let error as NSError` sees one too.
  public struct Error: Swift.Error, Hashable {
    /// What kind of error it is. The numbers are stable.
    public enum Code: Int, Sendable {
      /// What was asked goes beyond a limit: of the format, or of the versions that may be in use. The
      /// message says which; release realms, or ask for less at a time.
      case fail = 1
      /// The file lies on a network file system, where it can't be written safely. Put it on a local disk, or set
      /// `readOnly`.
      case fileAccess = 2
      /// The system does not let this process read or write the file. Change its permissions or those of its
      /// folder; set `readOnly` where the file is only read.
      case filePermissionDenied = 3
      /// There is a file already where a copy is to be written. Remove it, or name another path.
      case fileExists = 4
      /// There is no file or folder at the path. Make the folder, or set another path.
      case fileNotFound = 5
      /// The file would have to be brought to a newer format first. Not thrown: a file of another format is
      /// `unsupportedFileFormatVersion`.
      case fileFormatUpgradeRequired = 6
      /// What processes share about the file does not fit this library. Not thrown: then it is `alreadyOpen`.
      case incompatibleLockFile = 8
      /// The process has no room left to map the file into its memory. Close other realms, or let it have
      /// more address space.
      case addressSpaceExhausted = 9
      /// Classes and the tables of the file differ, or the file has a higher schema version. Increase
      /// `schemaVersion` where properties were added; else open it with the classes it was written with.
      case schemaMismatch = 10
      /// The realm is open, here or in another process, and can't be shared in the way that is asked. Close
      /// it there, or open it in the same way.
      case alreadyOpen = 12
      /// A value that was given does not fit, as a text that names no decimal or id. Give one that does.
      case invalidInput = 13
      /// The disk is full, or the quota is used up. Make room and write again.
      case outOfDiskSpace = 14
      /// A session with a server no longer fits the file. Not thrown.
      case incompatibleSession = 15
      /// The file has a format, or a draft of one, that this library does not read, or is one of the original Realm; or it
      /// uses something that this library must know to read or to write it, and does not. The
      /// message says what it is; use a library of the file's age, or export it by one and build the objects anew.
      case unsupportedFileFormatVersion = 16
      /// Another process has the session of a synced file with its server. It is told to `SyncManager.errorHandler`, and to who waits for a download. Read
      /// and write the realm as always: the other process uploads what is committed here. The session of this process begins by itself when that one ends.
      case multipleSyncAgents = 17
      /// The server can't use a query of a subscription set. The message says which, and why; change the query.
      case subscriptionFailed = 18
      /// The system refused to open, read, write, sync or copy a file, now or before: there is a folder at the path, say,
      /// or a file where a folder should be. Read the message. Where the realm was open, close it and open it again,
      /// which finds the last version that was kept.
      case fileOperationFailed = 19
      /// The file is no realm, is empty and opened for reading only, is damaged, or is encrypted otherwise than the key
      /// says. Check path and key, or restore the file from a copy.
      case invalidDatabase = 20
      /// A file that is synced was opened without a `syncConfiguration`, or one that is not with it. Open it as it was made, or copy it by
      /// `writeCopy(configuration:)`. Or a synced file with changes that were not uploaded was to be deleted without one.
      case incompatibleHistories = 21
      /// An object was made of a class that no subscription asks for. Add a subscription first.
      case noSubscriptionForWrite = 22
    }

    private let error: NSError

    fileprivate init(_ error: NSError) { self.error = error }

    init(_ code: Code, _ message: String, path: String? = nil) {
      var info: [String: Any] = [NSLocalizedDescriptionKey: message]
      if let path { info[NSFilePathErrorKey] = path }
      error = NSError(domain: Self.errorDomain, code: code.rawValue, userInfo: info)
    }

    /// An error of a program's own, with a code and what else there is to know.
    public init(_ code: Code, userInfo: [String: Any] = [:]) {
      error = NSError(domain: Self.errorDomain, code: code.rawValue, userInfo: userInfo)
    }

    /// What kind of error it is; `.fail` where its number is that of no case.
    public var code: Code { Code(rawValue: error.code) ?? .fail }
    /// The file it is about.
    public var fileURL: URL? {
      (error.userInfo[NSFilePathErrorKey] as? String).map { URL(fileURLWithPath: $0) }
    }
    /// What happened, to which file, and what to do.
    public var localizedDescription: String { error.localizedDescription }

    /// The domain of the `NSError` it stands for: `io.realm`.
    public static var errorDomain: String { "io.realm" }
  }
}

extension Realm.Error: CustomNSError, LocalizedError, CustomStringConvertible {
  /// The number of `code`.
  public var errorCode: Int { error.code }
  /// The same as `userInfo`.
  public var errorUserInfo: [String: Any] { error.userInfo }
  /// What else there is to know, by the keys of an `NSError`: the message, and the path of the file.
  public var userInfo: [String: Any] { error.userInfo }
  /// What happened, to which file, and what to do.
  public var errorDescription: String? { error.localizedDescription }
  public var description: String { error.localizedDescription }
}

extension Realm.Error {
  /// Catches `Code.fail`: what was asked goes beyond a limit.
  public static var fail: Code { .fail }
  /// Catches `Code.fileAccess`: a file lies on a network file system.
  public static var fileAccess: Code { .fileAccess }
  /// Catches `Code.filePermissionDenied`: the system does not let the process read or write.
  public static var filePermissionDenied: Code { .filePermissionDenied }
  /// Catches `Code.fileExists`: there is a file already where a copy is to be.
  public static var fileExists: Code { .fileExists }
  /// Catches `Code.fileNotFound`: there is nothing at the path.
  public static var fileNotFound: Code { .fileNotFound }
  /// Catches `Code.incompatibleLockFile`: never thrown.
  public static var incompatibleLockFile: Code { .incompatibleLockFile }
  /// Catches `Code.fileFormatUpgradeRequired`: never thrown.
  public static var fileFormatUpgradeRequired: Code { .fileFormatUpgradeRequired }
  /// Catches `Code.addressSpaceExhausted`: there is no room to map the file.
  public static var addressSpaceExhausted: Code { .addressSpaceExhausted }
  /// Catches `Code.schemaMismatch`: classes do not fit the file.
  public static var schemaMismatch: Code { .schemaMismatch }
  /// Catches `Code.alreadyOpen`: the realm is open in another way.
  public static var alreadyOpen: Code { .alreadyOpen }
  /// Catches `Code.invalidInput`: a value does not fit.
  public static var invalidInput: Code { .invalidInput }
  /// Catches `Code.outOfDiskSpace`: the disk is full.
  public static var outOfDiskSpace: Code { .outOfDiskSpace }
  /// Catches `Code.unsupportedFileFormatVersion`: the format is not one that is read.
  public static var unsupportedFileFormatVersion: Code { .unsupportedFileFormatVersion }
  /// Catches `Code.fileOperationFailed`: the system refused to open, read or write.
  public static var fileOperationFailed: Code { .fileOperationFailed }
  /// Catches `Code.multipleSyncAgents`: another process has the session of a synced file.
  public static var multipleSyncAgents: Code { .multipleSyncAgents }
  /// Catches `Code.subscriptionFailed`: the server can't use a query.
  public static var subscriptionFailed: Code { .subscriptionFailed }
  /// Catches `Code.incompatibleHistories`: a file is synced and was opened as one that is not, or the reverse.
  public static var incompatibleHistories: Code { .incompatibleHistories }
  /// Catches `Code.noSubscriptionForWrite`: no subscription asks for the class of an object that was made.
  public static var noSubscriptionForWrite: Code { .noSubscriptionForWrite }
  /// Catches `Code.invalidDatabase`: the file is no realm, is damaged, or has another key.
  public static var invalidDatabase: Code { .invalidDatabase }
}

extension Realm.Error.Code {
  /// `catch Realm.Error.fileNotFound` catches what has that code.
  public static func ~= (code: Self, error: any Swift.Error) -> Bool {
    (error as? Realm.Error)?.code == code
  }
}

// `catch let error as NSError`, and back, where Foundation has no Objective-C runtime beneath it.
extension Realm.Error: _ObjectiveCBridgeable {
  public func _bridgeToObjectiveC() -> NSError { error }
  public static func _forceBridgeFromObjectiveC(_ source: NSError, result: inout Realm.Error?) {
    _ = _conditionallyBridgeFromObjectiveC(source, result: &result)
  }
  public static func _conditionallyBridgeFromObjectiveC(_ source: NSError, result: inout Realm.Error?) -> Bool
  {
    result = source.domain == errorDomain ? Realm.Error(source) : nil
    return result != nil
  }
  public static func _unconditionallyBridgeFromObjectiveC(_ source: NSError?) -> Realm.Error {
    source.map { Realm.Error($0) } ?? Realm.Error(.fail, "an error without a description")
  }
}

extension Realm.Error {
  /// Why a commit that all realms see may not survive a loss of power.
  init(unsureCommit error: StorageError) {
    let cause = Realm.Error(error)
    self.init(
      cause.code,
      "the commit is made, and all realms see it; but the disk has not confirmed it, so that a loss of power may take it back: \(error.description)",
      path: cause.fileURL?.path)
  }

  /// Every error of the storage engine leaves this library as one of these.
  init(_ error: StorageError) {
    let code: Code
    var path: String?
    switch error {
    case .notARealmFile(let file, _), .emptyFile(let file), .wrongKey(let file), .keyMissing(let file),
      .keyForPlainFile(let file), .corrupted(_, let file), .truncated(let file, _, _):
      (code, path) = (.invalidDatabase, file)
    case .unsupportedFormat(_, _, let file), .unsupportedDraft(_, _, let file),
      .originalRealmFile(_, let file), .unknownFeature(_, let file):
      (code, path) = (.unsupportedFileFormatVersion, file)
    case .otherHistory(_, let file): (code, path) = (.incompatibleHistories, file)
    case .invalidKeyLength: code = .invalidInput
    case .system(let call, let number, let file, _):
      (code, path) = (Self.code(of: call, number), file)
    case .poisoned(let file), .snapshotExpired(let file): (code, path) = (.fileOperationFailed, file)
    case .inUse(let file), .controlReplaced(let file), .forked(let file),
      .closed(let file):
      (code, path) = (.alreadyOpen, file)
    case .readOnly(let file): (code, path) = (.filePermissionDenied, file)
    case .remoteFileSystem(let file): (code, path) = (.fileAccess, file)
    case .duplicateKey(_, _, let file), .changeDoesNotFit(_, let file),
      .schemaChangeWhileRecording(_, let file), .elementIDsMissing(_, _, let file),
      .tableNotEmpty(_, let file), .notSyncable(_, _, _, let file),
      .instructionDoesNotFit(_, _, _, let file):
      (code, path) = (.invalidInput, file)
    case .limitExceeded(_, let file), .versionEnded(_, _, let file), .schemaChanged(_, _, let file),
      .queryCancelled(let file), .queryDeadline(let file):
      (code, path) = (.fail, file)
    }
    self.init(code, error.description, path: path)
  }

  private static func code(of call: SystemCall, _ number: CInt) -> Code {
    switch number {
    case EACCES, EPERM, EROFS: .filePermissionDenied
    case ENOENT: .fileNotFound
    case EEXIST: .fileExists
    case ENOSPC, EDQUOT: .outOfDiskSpace
    case ENOMEM where call == .map: .addressSpaceExhausted
    default: .fileOperationFailed
    }
  }

  /// Calls `body`; what the engine throws leaves as a `Realm.Error`.
  static func wrapping<Result>(_ body: () throws(StorageError) -> Result) throws -> Result {
    do {
      return try body()
    } catch {
      throw Realm.Error(error)
    }
  }
}

/// Calls `body`, which reads for an interface that can't throw: an error of the engine stops the program with its message.
func reading<Result>(
  _ body: () throws(StorageError) -> Result, orStop name: String = "Unreadable realm"
) -> Result {
  do {
    return try body()
  } catch {
    raise(name, error.description)
  }
}
