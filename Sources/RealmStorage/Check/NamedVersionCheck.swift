/// Checks every version that is kept by name, as `IntegrityCheck` checks one version.
package enum NamedVersionCheck {
  package struct Finding: Sendable {
    package let name: String
    /// The number of the version; nil if the slot does not name it.
    package let version: UInt64?
    package let error: StorageError
  }

  package struct Report: Sendable {
    /// The number of versions that were checked.
    package var versions = 0
    /// The damage that was found in these versions, and the reasons why others could not be checked.
    package var findings: [Finding] = []

    package init() {}
  }

  /// Takes time in proportion to the versions' sizes: each version is checked as a whole, with the nodes that it shares
  /// with others.
  ///
  /// - Throws: The errors of reading the names.
  package static func run(
    _ database: Database, progress: @escaping (Double) -> Void = { _ in }
  ) throws(StorageError) -> Report {
    var report = Report()
    let slots = try slots(of: database.snapshot())
    for (index, slot) in slots.enumerated() {
      if let kept = slot.kept, kept.isEnded { continue }
      var errors: [StorageError] = []
      do throws(StorageError) {
        // A name that was dropped meanwhile leads to no version that could be checked.
        guard let snapshot = try database.snapshot(named: slot.name) else { continue }
        let found = IntegrityCheck.run(snapshot) { progress((Double(index) + $0) / Double(slots.count)) }
        errors = found.findings
        if let failure = found.failure { errors.append(failure) }
      } catch {
        errors = [error]
      }
      report.versions += 1
      for error in errors {
        report.findings.append(Finding(name: slot.name, version: slot.kept?.version.number, error: error))
      }
    }
    return report
  }

  private static func slots(of snapshot: Snapshot) throws(StorageError) -> [VersionSlots.Slot] {
    let access = snapshot.access()
    return try VersionSlots.all(Catalogue(snapshot.root, access), before: snapshot.version, access)
  }
}

extension NamedVersionCheck.Finding: CustomStringConvertible {
  package var description: String {
    "\(version.map { "version \($0)" } ?? "a version"), kept by the name \(name): \(error) "
      + "Database.dropVersion(named:) drops it, without reading it."
  }
}
