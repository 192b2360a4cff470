import CRealmPlatform

/// The executor that runs the current code.
///
/// The standard library can stop the program if an actor is not the current one, but can't tell whether it is. This uses the
/// function of the runtime below that check. It answers without asking the executor itself, which would stop the program.
enum CurrentExecutor {
  /// Whether code that is isolated to an executor is running here.
  static func `is`(_ executor: UnownedSerialExecutor) -> Bool {
    // The runtime has two words for an executor: the object that it is, and how it is called.
    let words = unsafeBitCast(executor, to: (identity: UInt, implementation: UInt).self)
    return cp_is_current_executor(words.identity, words.implementation)
  }
}
