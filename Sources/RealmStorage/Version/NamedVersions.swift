/// The versions that are kept by name, as far as who gives out space must know them. Its owner is the handle that writes.
///
/// The names stand in the versions themselves: each version has those that it was committed with. So nothing may be overwritten
/// that a name leads to, as long as **any version that may be opened after a crash** has the name. The rules:
/// 1. The names of D, of the published version, and of all versions that are pending or in flight hold what they lead to.
/// 2. A name is held from before its version is pending: what it leads to is D or pinned until then.
/// 3. A name that was taken away, or that leads elsewhere since, holds as before until a version without it is durable.
/// 4. A named version was durable before it was named. So whichever version is opened, what its names lead to was on the disk
///    before, and no recovery has to look at it.
///
/// All versions from D on that this handle knows of are kept with their names; each stands for those after it, up to the next.
/// Those between D and the published version that another process made are not among them: a name is given by a commit that
/// makes it durable, so they have no name that D or the published version lacks.
struct NamedVersions: Sendable {
  /// What the names of a version lead to.
  struct Names: Sendable, Equatable {
    /// The tree that they stand in: while it is the same they are the same.
    var tree: Ref
    /// Ascending by number. Several names may lead to one.
    var versions: [Version] = []
    /// False where it can't be told what some names lead to.
    var isComplete = true
  }

  private var known: [(first: UInt64, names: Names)] = []
  /// The newest version whose names are known; 0 before the first.
  private(set) var newest: UInt64 = 0

  /// No name holds anything.
  var isEmpty: Bool { known.allSatisfy { $0.names.versions.isEmpty && $0.names.isComplete } }

  /// The names of the newest version that is known.
  var newestNames: Names? { known.last?.names }

  /// Whether it is known what all names lead to.
  var isComplete: Bool { known.allSatisfy { $0.names.isComplete } }

  /// All versions that are held, each once, ascending by number. Only in a forged file have two of them the same number.
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

  /// The names that stand in a tree, where they are known.
  func names(in tree: Ref) -> Names? { known.last { $0.names.tree == tree && $0.names.isComplete }?.names }

  /// Notes the names of a version, the newest there is.
  mutating func note(_ names: Names, of version: UInt64) {
    precondition(version > newest, "version \(version) comes after \(newest)")
    newest = version
    if let last = known.last, last.names == names { return }
    known.append((version, names))
  }

  /// Forgets the names that only versions before the durable one have: none of these is opened any more.
  mutating func forget(before durable: UInt64) {
    while known.count > 1, known[1].first <= durable { known.removeFirst() }
  }

  /// Adds the numbers of all versions that are held to others.
  func addNumbers(to numbers: inout [UInt64]) {
    for (_, names) in known { for version in names.versions { numbers.append(version.number) } }
  }
}
