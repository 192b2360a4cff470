import RealmSwift

/// A package of the distribution.
final class Package: Object {
  @Persisted(primaryKey: true) var name: String
  @Persisted var version: String
  @Persisted(indexed: true) var section: String
  @Persisted var priority: Priority
  /// KiB on disk once installed.
  @Persisted var installedSize: Int
  /// Bytes to download.
  @Persisted var downloadSize: Int
  @Persisted var summary: String
  @Persisted var details: String?
  @Persisted var homepage: String?
  @Persisted var tags: List<String>
  @Persisted var maintainer: Maintainer?
  @Persisted var dependencies: List<Package>
  @Persisted(originProperty: "dependencies") var dependents: LinkingObjects<Package>
}

enum Priority: String, PersistableEnum {
  case required, important, standard, optional, extra
}

/// Who looks after packages.
final class Maintainer: Object {
  @Persisted(primaryKey: true) var name: String
  @Persisted var email: String?
  @Persisted(originProperty: "maintainer") var packages: LinkingObjects<Package>
}
