import CPlatform

/// The executor that runs the current code.
///
/// The standard library can stop the program where an actor is not the current one, and can't answer whether it is. The runtime's
/// function that both rest on answers it, without asking the executor itself, which would stop the program.
enum CurrentExecutor {
  /// Whether code that is isolated to an executor is running here.
  static func `is`(_ executor: UnownedSerialExecutor) -> Bool {
    // An executor is two words to the runtime: the object that it is, and how that is called.
    let words = unsafeBitCast(executor, to: (identity: UInt, implementation: UInt).self)
    return cp_is_current_executor(words.identity, words.implementation)
  }
}
