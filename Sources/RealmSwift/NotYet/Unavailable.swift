/// The body of each function of this folder. The folder declares names of RealmSwift that are not there yet. The
/// compiler refuses every use of them with a message that says what to use instead, so no body ever runs.
func unavailable() -> Never { fatalError("unavailable") }

extension Realm.Error {
  @available(
    *, unavailable, message: "Realm.Error.callFailed is not there. Nothing throws it: remove the clause."
  )
  public static var callFailed: Code { unavailable() }
}
