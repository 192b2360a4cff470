import CRealmPlatform

/// Frees objects that hold others one after another instead of within one another, because a chain of links may be
/// longer than the stack allows.
enum FreedInTurn {
  /// From now on, instances of the class of `holder` are freed in this way.
  static func note(_ holder: AnyObject) { cp_free_in_turn(ClassMetadata(type(of: holder)).address) }
}
