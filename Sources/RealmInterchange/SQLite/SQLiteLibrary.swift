#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// SQLite's library, loaded when it is asked for: nothing but an export needs it.
///
/// The functions are those of https://sqlite.org/c3ref/funclist.html.
final class SQLiteLibrary: @unchecked Sendable {
  typealias Handle = OpaquePointer
  typealias Step = @convention(c) (Handle?) -> CInt
  typealias Destructor = @convention(c) (UnsafeMutableRawPointer?) -> Void

  typealias Open =
    @convention(c) (UnsafePointer<CChar>, UnsafeMutablePointer<Handle?>, CInt, UnsafePointer<CChar>?) -> CInt
  typealias Message = @convention(c) (Handle?) -> UnsafePointer<CChar>?
  typealias Prepare =
    @convention(c) (Handle?, UnsafePointer<CChar>, CInt, UnsafeMutablePointer<Handle?>, UnsafeRawPointer?) ->
    CInt
  typealias BindNull = @convention(c) (Handle?, CInt) -> CInt
  typealias BindInteger = @convention(c) (Handle?, CInt, Int64) -> CInt
  typealias BindDouble = @convention(c) (Handle?, CInt, Double) -> CInt
  typealias BindText = @convention(c) (Handle?, CInt, UnsafePointer<CChar>?, CInt, Destructor?) -> CInt
  typealias BindBlob = @convention(c) (Handle?, CInt, UnsafeRawPointer?, CInt, Destructor?) -> CInt

  private static let names = ["libsqlite3.so.0", "libsqlite3.so", "libsqlite3.dylib"]

  let open: Open
  let close: Step
  let message: Message
  let prepare: Prepare
  let step: Step
  let reset: Step
  let finalize: Step
  let bindNull: BindNull
  let bindInteger: BindInteger
  let bindDouble: BindDouble
  let bindText: BindText
  let bindBlob: BindBlob

  /// - Throws: `InterchangeError` if the library is not on this machine; it names the package that has it.
  init() throws(InterchangeError) {
    guard let library = Self.names.lazy.compactMap({ dlopen($0, RTLD_NOW) }).first else {
      throw InterchangeError(
        "SQLite's library is not on this machine: install it (Debian, Ubuntu: apt-get install libsqlite3-0), and try again."
      )
    }
    func function<Function>(_ name: String, _ type: Function.Type) throws(InterchangeError) -> Function {
      guard let symbol = dlsym(library, name) else {
        throw InterchangeError("SQLite's library on this machine has no function \(name): it is too old.")
      }
      return unsafeBitCast(symbol, to: Function.self)
    }
    open = try function("sqlite3_open_v2", Open.self)
    close = try function("sqlite3_close_v2", Step.self)
    message = try function("sqlite3_errmsg", Message.self)
    prepare = try function("sqlite3_prepare_v2", Prepare.self)
    step = try function("sqlite3_step", Step.self)
    reset = try function("sqlite3_reset", Step.self)
    finalize = try function("sqlite3_finalize", Step.self)
    bindNull = try function("sqlite3_bind_null", BindNull.self)
    bindInteger = try function("sqlite3_bind_int64", BindInteger.self)
    bindDouble = try function("sqlite3_bind_double", BindDouble.self)
    bindText = try function("sqlite3_bind_text", BindText.self)
    bindBlob = try function("sqlite3_bind_blob", BindBlob.self)
  }
}
