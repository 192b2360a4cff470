public import Foundation
import RealmStorage

extension Realm {
  /// Why a realm could not be opened, written or copied.
  ///
  /// It stands for an `NSError` of the domain `io.realm`: `catch let error as NSError` sees one too.
  public struct Error: Swift.Error, Hashable {
    /// What kind of error it is. The numbers are stable.
    public enum Code: Int, Sendable {
      case fail = 1
      case fileAccess = 2
      case filePermissionDenied = 3
      case fileExists = 4
      case fileNotFound = 5
      case fileFormatUpgradeRequired = 6
      case incompatibleLockFile = 8
      case addressSpaceExhausted = 9
      case schemaMismatch = 10
      case alreadyOpen = 12
      case invalidInput = 13
      case outOfDiskSpace = 14
      case incompatibleSession = 15
      case unsupportedFileFormatVersion = 16
      case multipleSyncAgents = 17
      case subscriptionFailed = 18
      case fileOperationFailed = 19
      case invalidDatabase = 20
      case incompatibleHistories = 21
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

    public var code: Code { Code(rawValue: error.code) ?? .fail }
    /// The file it is about.
    public var fileURL: URL? {
      (error.userInfo[NSFilePathErrorKey] as? String).map { URL(fileURLWithPath: $0) }
    }
    /// What happened, to which file, and what to do.
    public var localizedDescription: String { error.localizedDescription }

    public static var errorDomain: String { "io.realm" }
  }
}

extension Realm.Error: CustomNSError, LocalizedError, CustomStringConvertible {
  public var errorCode: Int { error.code }
  public var errorUserInfo: [String: Any] { error.userInfo }
  public var userInfo: [String: Any] { error.userInfo }
  public var errorDescription: String? { error.localizedDescription }
  public var description: String { error.localizedDescription }
}

extension Realm.Error {
  public static var fail: Code { .fail }
  public static var fileAccess: Code { .fileAccess }
  public static var filePermissionDenied: Code { .filePermissionDenied }
  public static var fileExists: Code { .fileExists }
  public static var fileNotFound: Code { .fileNotFound }
  public static var incompatibleLockFile: Code { .incompatibleLockFile }
  public static var fileFormatUpgradeRequired: Code { .fileFormatUpgradeRequired }
  public static var addressSpaceExhausted: Code { .addressSpaceExhausted }
  public static var schemaMismatch: Code { .schemaMismatch }
  public static var alreadyOpen: Code { .alreadyOpen }
  public static var invalidInput: Code { .invalidInput }
  public static var outOfDiskSpace: Code { .outOfDiskSpace }
  public static var unsupportedFileFormatVersion: Code { .unsupportedFileFormatVersion }
  public static var fileOperationFailed: Code { .fileOperationFailed }
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
  /// Every error of the storage engine leaves this library as one of these.
  init(_ error: StorageError) {
    let code: Code
    var path: String?
    switch error {
    case .notARealmFile(let file), .wrongKey(let file), .keyMissing(let file), .keyForPlainFile(let file),
      .corrupted(_, let file), .truncated(let file, _, _):
      (code, path) = (.invalidDatabase, file)
    case .unsupportedFormat(_, _, let file): (code, path) = (.unsupportedFileFormatVersion, file)
    case .invalidKeyLength: code = .invalidInput
    case .system(let call, let number, let file, _):
      (code, path) = (Self.code(of: call, number), file)
    case .poisoned(let file), .snapshotExpired(let file): (code, path) = (.fileOperationFailed, file)
    case .inUse(let file), .controlReplaced(let file), .forked(let file),
      .closed(let file):
      (code, path) = (.alreadyOpen, file)
    case .readOnly(let file): (code, path) = (.filePermissionDenied, file)
    case .remoteFileSystem(let file): (code, path) = (.fileAccess, file)
    case .duplicateKey(_, _, let file): (code, path) = (.invalidInput, file)
    case .limitExceeded(_, let file): (code, path) = (.fail, file)
    }
    self.init(code, error.description, path: path)
  }

  private static func code(of call: SystemCall, _ number: CInt) -> Code {
    switch number {
    case EACCES, EPERM, EROFS: .filePermissionDenied
    case ENOENT, ENOTDIR: .fileNotFound
    case EEXIST: .fileExists
    case ENOSPC, EDQUOT: .outOfDiskSpace
    case ENOMEM where call == .map: .addressSpaceExhausted
    default: call == .open ? .fileAccess : .fileOperationFailed
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
