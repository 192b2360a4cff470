import Synchronization

/// How the page writer learns which versions are kept by name (`NamedVersions`), and which of them cost too much.
extension PageWriter {
  /// Notes the names of `base` and of D, when a line of transactions begins and before the holders are looked for. This
  /// costs nothing if this handle wrote the last version. If another handle wrote it, this costs two nodes that are
  /// often read.
  ///
  /// Names that can't be read because of damage are passed over. The version may then hold anything (`TrackedSpace`).
  ///
  /// - Throws: `.unknownFeature`, `.system`.
  func noteNames(of base: Version) throws(StorageError) {
    let known = context.held.named.withLock { $0 }
    guard known.newest != base.number else { return }
    var names = NamedVersions()
    let durable = context.control.durable
    if durable.number < base.number {
      let found =
        if let version = context.held.versions.version(durable) {
          try self.names(of: version, known)
        } else {
          NamedVersions.Names(tree: .null, isComplete: false)
        }
      names.note(found, of: durable.number)
    }
    names.note(try self.names(of: base, known), of: base.number)
    context.held.named.withLock { $0 = names }
    listNamed(names.all, besides: known.all)
  }

  private func names(
    of version: Version, _ known: NamedVersions
  ) throws(StorageError) -> NamedVersions.Names {
    do throws(StorageError) {
      let access = context.store.access(below: version.end)
      let catalogue = try Catalogue(slotsOf: version.root, access)
      if let names = known.names(in: catalogue.namedSlots) { return names }
      return try NamedVersions.Names(catalogue, before: version.number, access)
    } catch {
      guard error.isDamage else { throw error }
      return NamedVersions.Names(tree: .null, isComplete: false)
    }
  }

  /// Notes the names of a version whose nodes were just written, before the version is pending.
  ///
  /// - Parameter root: the root of the version, as a ref of the arena.
  mutating func noteNames(of version: Version, madeOf root: Ref) {
    let known = context.held.named.withLock { $0 }
    var names = NamedVersions.Names(tree: .null, isComplete: false)
    do throws(StorageError) {
      let access = context.store.access(below: version.end, arena: arena)
      var catalogue = try Catalogue(slotsOf: root, access)
      if let tree = writtenRefs.find(catalogue.namedSlots) { catalogue.namedSlots = tree }
      if let same = known.names(in: catalogue.namedSlots) {
        names = same
      } else {
        names = try NamedVersions.Names(catalogue, before: version.number, access)
      }
    } catch {
      // The nodes that were written can't be read. No waiting page becomes free until the names are known again.
    }
    if !names.isComplete { space.forgetNames() }
    let isNew = names != known.newestNames
    context.held.named.withLock { $0.note(names, of: version.number) }
    if isNew { listNamed(names.versions, besides: known.all) }
  }

  /// Puts named versions into the table of the versions that can be read. A reader that has pinned a named version may
  /// read it after its name is gone, and a search for free space must then find the version's root. If the table has no
  /// room for a version, no page becomes free while the version is held.
  ///
  /// - Parameter known: the named versions that were listed before. They stay in the table for as long as they have a
  ///   name.
  private func listNamed(_ versions: [Version], besides known: [Version]) {
    let listed = known.map(\.number)
    let versions = versions.filter { listed.binarySearch($0.number) == nil }
    guard !versions.isEmpty else { return }
    var holders = context.group.holders
    context.held.addHolders(to: &holders)
    holders.sortWithoutRepeats()
    for version in versions { _ = try? context.held.versions.entry(of: version, holders: holders) }
  }

  /// Finds out, after a version was written, whether named versions keep too much. The call takes O(1) while fewer
  /// bytes than the limit wait for all holders together.
  ///
  /// A name keeps the pages that no older version needs and the newest version does not need. Whether a version newer
  /// than the named one needs them too does not matter, because they are kept for the name in any case. A version that
  /// has no name in the newest version is not counted, because it is held only for a moment longer.
  func noteNamedBytes() {
    guard let kept = context.held.named.withLock({ $0.newestNames?.versions }), !kept.isEmpty else { return }
    let limit = context.namedLimit.bytes(beside: space.liveBytes)
    guard space.waitingBytes > limit else { return }
    var (bytes, last) = (0, UInt64(0))
    for version in kept where version.number != last {
      last = version.number
      bytes += space.waitingBytes(for: version.number)
    }
    if bytes > limit { context.namedLimit.excess.store(kept[0].number, ordering: .relaxed) }
  }
}

extension NamedVersions.Names {
  /// - Parameter number: the number of the version that the catalogue belongs to.
  init(
    _ catalogue: Catalogue, before number: UInt64, _ access: borrowing NodeAccess
  ) throws(StorageError) {
    self.init(tree: catalogue.namedSlots)
    for slot in try VersionSlots.all(catalogue, before: number, access) {
      // No writer makes more names than this. All of the versions would have to be held.
      guard versions.count < VersionSlots.maximumCount else {
        isComplete = false
        break
      }
      guard let kept = slot.kept else {
        isComplete = false
        continue
      }
      if !kept.isEnded { versions.append(kept.version) }
    }
    versions.sort { $0.number < $1.number }
  }
}
