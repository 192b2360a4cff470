/// The versions that are kept by name, as far as the code that gives out space must know them. The handle that writes
/// owns this value.
///
/// The names stand in the versions themselves: each version has the names that it was committed with. So nothing that a
/// name leads to may be overwritten as long as **any version that may be opened after a crash** has the name. The
/// rules:
/// 1. The names of D, of the published version, and of all versions that are pending or in flight hold what they lead
///    to.
/// 2. A name holds from before its version is pending. Until then, the version that it leads to is D or pinned.
/// 3. A name that was taken away, or that leads elsewhere since, holds as before until a version without it is durable.
/// 4. A named version was durable before it was named. So whichever version is opened, what its names lead to was on
///    the disk before, and recovery need not look at it.
///
/// All versions from D on that this handle knows of are kept with their names. Each of them also stands for the
/// versions after it, up to the next one kept. The versions between D and the published version that another process
/// made are not among them. A commit that gives a name makes it durable, so these versions have no name that D or the
/// published version lacks.
struct NamedVersions: Sendable {
  /// What the names of a version lead to.
  struct Names: Sendable, Equatable {
    /// The tree that the names stand in. While the tree is the same, the names are the same.
    var tree: Ref
    /// The versions that the names lead to, ascending by number. Several names may lead to one version.
    var versions: [Version] = []
    /// False if it is not known what some names lead to.
    var isComplete = true
  }

  private var known: [(first: UInt64, names: Names)] = []
  /// The newest version whose names are known; 0 before the first.
  private(set) var newest: UInt64 = 0

  /// Whether no name holds anything.
  var isEmpty: Bool { known.allSatisfy { $0.names.versions.isEmpty && $0.names.isComplete } }

  /// The names of the newest version that is known.
  var newestNames: Names? { known.last?.names }

  /// Whether it is known what all names lead to.
  var isComplete: Bool { known.allSatisfy { $0.names.isComplete } }

  /// All held versions, each once, ascending by number. Two of them have the same number only in a forged file.
  var all: [Version] {
    guard known.count > 1 else { return Self.distinct(known.first?.names.versions ?? []) }
    return Self.distinct(known.flatMap { $0.names.versions }.sorted { $0.number < $1.number })
  }

  private static func distinct(_ versions: [Version]) -> [Version] {
    var distinct: [Version] = []
    for version in versions
    where !distinct.reversed().prefix(while: { $0.number == version.number }).contains(version) {
      distinct.append(version)
    }
    return distinct
  }

  /// The names that stand in a tree, if they are known.
  func names(in tree: Ref) -> Names? { known.last { $0.names.tree == tree && $0.names.isComplete }?.names }

  /// Notes the names of a version, which must be the newest.
  mutating func note(_ names: Names, of version: UInt64) {
    precondition(version > newest, "version \(version) comes after \(newest)")
    newest = version
    if let last = known.last, last.names == names { return }
    known.append((version, names))
  }

  /// Forgets the names that only versions before the durable one have, because none of these versions is opened any
  /// more.
  mutating func forget(before durable: UInt64) {
    while known.count > 1, known[1].first <= durable { known.removeFirst() }
  }

  /// Adds the numbers of all held versions to `numbers`.
  func addNumbers(to numbers: inout [UInt64]) {
    for (_, names) in known { for version in names.versions { numbers.append(version.number) } }
  }
}
