import Foundation

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Files that only their owner may read and write.
enum PrivateFile {
  private static let mode: mode_t = 0o600

  /// Makes an empty file if it does not exist, and takes rights away from others if it does. A new file has these
  /// rights from its first moment on, so that nobody can open it before.
  ///
  /// - Throws: `AccountError.Code.internalServerError`.
  static func make(at path: String) throws {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
    let number = errno
    if descriptor >= 0 {
      close(descriptor)
      return
    }
    guard number == EEXIST else { throw failure("can't be made", path, number) }
    try restrict(path)
  }

  /// Takes rights away from others.
  ///
  /// - Throws: `AccountError.Code.internalServerError`.
  static func restrict(_ path: String) throws {
    guard chmod(path, mode) == 0 else { throw failure("can't be kept from others", path, errno) }
  }

  /// The error for a failure. The person who starts the server sees it.
  private static func failure(_ what: String, _ path: String, _ number: Int32) -> AccountError {
    AccountError(
      .internalServerError,
      "The file of the accounts, \(path), \(what): the system answers error \(number). "
        + "Check the owner and the rights of its folder.")
  }
}
