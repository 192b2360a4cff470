import CPlatform

/// What holds objects is freed one after another: a chain of links may be longer than the stack would take.
enum FreedInTurn {
  /// From now on instances of the holder's class are.
  static func note(_ holder: AnyObject) { cp_free_in_turn(ClassMetadata(type(of: holder)).address) }
}
