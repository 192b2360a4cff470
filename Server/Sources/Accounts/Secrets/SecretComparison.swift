import CRealmSodium

/// Compares secrets with texts from outside.
public enum SecretComparison {
  /// Whether two texts have the same bytes.
  ///
  /// The time of the comparison does not depend on where the texts differ, so that nobody can guess a secret byte by
  /// byte. It may depend on their lengths.
  public static func areEqual(_ one: String, _ other: String) -> Bool {
    let (bytes, others) = (Array(one.utf8), Array(other.utf8))
    return bytes.count == others.count && sodium_memcmp(bytes, others, bytes.count) == 0
  }
}
