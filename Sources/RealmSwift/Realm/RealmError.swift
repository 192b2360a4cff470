public import Foundation
import RealmStorage

extension Realm {
  /// Why a realm could not be opened, written or copied.
  ///
  /// The error stands for an `NSError` of the domain `io.realm`: code that catches an `NSError` gets it, too.
  public struct Error: Swift.Error, Hashable {
    /// The kinds of errors. Their numbers are stable.
    public enum Code: Int, Sendable {
      /// A limit was exceeded: of the file format, of the versions that may be in use, or of the room that a change feed may
      /// keep. A change feed lost a class or property, a query was cancelled, a file that is open was opened with another
      /// `syncConfiguration`, or a synced realm was to be copied before its changes were uploaded. The message says which; for
      /// example release realms, or do less at a time.
      case fail = 1
      /// The file lies on a network file system, on which it can't be written safely. Put it on a local disk, or set `readOnly`.
      case fileAccess = 2
      /// The system does not let this process read or write the file, or the realm is opened for reading only. Change the
      /// permissions of the file or its folder; set `readOnly` if the file is only read.
      case filePermissionDenied = 3
      /// A copy was to be written to a path at which there is a file already. Remove that file, or choose another path.
      case fileExists = 4
      /// There is no file or folder at the path. Make the folder, or set another path.
      case fileNotFound = 5
      /// The file would first have to be brought to a newer format. This code is never thrown: a file of another format is
      /// `unsupportedFileFormatVersion`.
      case fileFormatUpgradeRequired = 6
      /// What processes share about the file does not fit this library. This code is never thrown: such a file is `alreadyOpen`.
      case incompatibleLockFile = 8
      /// The process has no addresses left to map the file into its memory. Close other realms, or allow the process more address
      /// space.
      case addressSpaceExhausted = 9
      /// The classes differ from the tables of the file, or the file has a higher schema version, or a migration could not be
      /// done. Raise `schemaVersion` if properties were changed; else open the file with the classes that it was written with.
      case schemaMismatch = 10
      /// The realm is open, in this process or another, and can't be shared in the way that is asked for. Close it there, or open
      /// it in the same way.
      case alreadyOpen = 12
      /// A value does not fit, for example a text that names no decimal or no id. Give another value.
      case invalidInput = 13
      /// The disk is full, or a quota is used up. Make room and write again.
      case outOfDiskSpace = 14
      /// A session with a server no longer fits the file. This code is never thrown.
      case incompatibleSession = 15
      /// This library does not read the format of the file: it is newer, or a draft, or that of the original Realm, or the file
      /// uses something that this library does not know. The message says what it is. Use a library that is as new as the file,
      /// or export the objects with the program that wrote it and make them again.
      case unsupportedFileFormatVersion = 16
      /// Another process has the session of a synced file with its server. The error goes to `SyncManager.errorHandler`, and to
      /// those who wait for a download. Read and write the realm as always: the other process uploads what is committed here. The
      /// session of this process begins by itself when the other one ends.
      case multipleSyncAgents = 17
      /// The server can't use a query of a subscription set. The message says which query, and why; change the query.
      case subscriptionFailed = 18
      /// The system refused to open, read, write, sync or copy a file, now or in an earlier call: for example there is a folder
      /// at the path, or a file in place of a folder. Read the message. If the realm was open, close it and open it again: it
      /// then has the last version that the disk holds.
      case fileOperationFailed = 19
      /// The file is no realm, is empty and opened for reading only, is damaged, or is not encrypted with the key of the
      /// configuration. Check the path and the key, or restore the file from a copy.
      case invalidDatabase = 20
      /// A synced file was opened without a `syncConfiguration`, or another file with one. Open the file in the way it was made,
      /// or copy it by `writeCopy(configuration:)`. The same code is thrown if a synced file with changes that were not uploaded
      /// was to be deleted without a `syncConfiguration`.
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

    /// Makes an error of a program's own, with a code and further facts by the keys of an `NSError`.
    public init(_ code: Code, userInfo: [String: Any] = [:]) {
      error = NSError(domain: Self.errorDomain, code: code.rawValue, userInfo: userInfo)
    }

    /// The kind of the error; `.fail` if its number is that of no case.
    public var code: Code { Code(rawValue: error.code) ?? .fail }
    /// The file that the error is about; nil if it is about none.
    public var fileURL: URL? {
      (error.userInfo[NSFilePathErrorKey] as? String).map { URL(fileURLWithPath: $0) }
    }
    /// What happened, to which file, and what to do, in English.
    public var localizedDescription: String { error.localizedDescription }

    /// The domain of the `NSError` that an error stands for: `io.realm`.
    public static var errorDomain: String { "io.realm" }
  }
}

extension Realm.Error: CustomNSError, LocalizedError, CustomStringConvertible {
  /// The number of `code`.
  public var errorCode: Int { error.code }
  /// The same dictionary as `userInfo`.
  public var errorUserInfo: [String: Any] { error.userInfo }
  /// Further facts, by the keys of an `NSError`: the message, and the path of the file.
  public var userInfo: [String: Any] { error.userInfo }
  /// What happened, to which file, and what to do, in English.
  public var errorDescription: String? { error.localizedDescription }
  /// What happened, to which file, and what to do, in English.
  public var description: String { error.localizedDescription }
}

extension Realm.Error {
  /// Catches `Code.fail`: a limit was exceeded.
  public static var fail: Code { .fail }
  /// Catches `Code.fileAccess`: the file lies on a network file system.
  public static var fileAccess: Code { .fileAccess }
  /// Catches `Code.filePermissionDenied`: the system does not let the process read or write.
  public static var filePermissionDenied: Code { .filePermissionDenied }
  /// Catches `Code.fileExists`: there is a file at the path of a copy already.
  public static var fileExists: Code { .fileExists }
  /// Catches `Code.fileNotFound`: there is nothing at the path.
  public static var fileNotFound: Code { .fileNotFound }
  /// Catches `Code.incompatibleLockFile`, which is never thrown.
  public static var incompatibleLockFile: Code { .incompatibleLockFile }
  /// Catches `Code.fileFormatUpgradeRequired`, which is never thrown.
  public static var fileFormatUpgradeRequired: Code { .fileFormatUpgradeRequired }
  /// Catches `Code.addressSpaceExhausted`: there are no addresses left to map the file.
  public static var addressSpaceExhausted: Code { .addressSpaceExhausted }
  /// Catches `Code.schemaMismatch`: the classes do not fit the file.
  public static var schemaMismatch: Code { .schemaMismatch }
  /// Catches `Code.alreadyOpen`: the realm is open in another way.
  public static var alreadyOpen: Code { .alreadyOpen }
  /// Catches `Code.invalidInput`: a value does not fit.
  public static var invalidInput: Code { .invalidInput }
  /// Catches `Code.outOfDiskSpace`: the disk is full.
  public static var outOfDiskSpace: Code { .outOfDiskSpace }
  /// Catches `Code.unsupportedFileFormatVersion`: this library does not read the format of the file.
  public static var unsupportedFileFormatVersion: Code { .unsupportedFileFormatVersion }
  /// Catches `Code.fileOperationFailed`: the system refused to open, read or write.
  public static var fileOperationFailed: Code { .fileOperationFailed }
  /// Catches `Code.multipleSyncAgents`: another process has the session of a synced file.
  public static var multipleSyncAgents: Code { .multipleSyncAgents }
  /// Catches `Code.subscriptionFailed`: the server can't use a query.
  public static var subscriptionFailed: Code { .subscriptionFailed }
  /// Catches `Code.incompatibleHistories`: a synced file was opened as one that is not synced, or the reverse.
  public static var incompatibleHistories: Code { .incompatibleHistories }
  /// Catches `Code.noSubscriptionForWrite`: an object was made of a class that no subscription asks for.
  public static var noSubscriptionForWrite: Code { .noSubscriptionForWrite }
  /// Catches `Code.invalidDatabase`: the file is no realm, is damaged, or has another key.
  public static var invalidDatabase: Code { .invalidDatabase }
}

extension Realm.Error.Code {
  /// Lets `catch Realm.Error.fileNotFound` catch the errors that have this code.
  public static func ~= (code: Self, error: any Swift.Error) -> Bool {
    (error as? Realm.Error)?.code == code
  }
}

// Foundation on Linux has no Objective-C runtime: this conformance makes `catch let error as NSError`, and the cast back, work
// there as well.
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
  /// Makes the error of a commit that other realms may have seen but that the disk has not confirmed.
  init(unsureCommit error: StorageError) {
    let cause = Realm.Error(error)
    self.init(
      cause.code,
      "the commit is made, and other realms may have seen it; but the disk has not confirmed it. Whether it is kept is known when the file is opened again: \(error.description)",
      path: cause.fileURL?.path)
  }

  /// Makes the error into which an error of the storage engine turns when it leaves this library.
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

  /// Calls `body`. An error of the engine is thrown as a `Realm.Error`.
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
