import Foundation
import RealmStorage

/// The elements of a collection in sections. The elements of a section have the same key. Sections are in the order of
/// their first elements, and the elements of a section are in the order of the collection. The sections are found anew
/// when the realm has changed, in time that grows with the number of elements.
final class SectionContent<Key: _Persistable & Hashable, Element: RealmCollectionValue> {
  let results: Results<Element>
  private let key: (Element) -> Key
  private var known: (layout: SectionLayout<Key>, generation: UInt64)?

  init(_ results: Results<Element>, _ key: @escaping (Element) -> Key) {
    (self.results, self.key) = (results, key)
  }

  func moved(to session: _RealmSession) -> SectionContent? {
    results._moved(to: session).map { SectionContent($0, key) }
  }

  var layout: SectionLayout<Key> {
    guard let session = results.realm?.session else { return SectionLayout([]) }
    if let known, known.generation == session.generation { return known.layout }
    let layout = SectionLayout(results.map(key))
    // A frozen collection may be read by several threads, so that nothing is kept.
    if !session.isFrozen { known = (layout, session.generation) }
    return layout
  }
}

/// The sections of a collection: each has a key, and the elements that are in it.
struct SectionLayout<Key: Hashable> {
  private(set) var keys: [Key] = []
  /// The indexes of each section's elements in the collection, in ascending order.
  private(set) var members: [[Int]] = []
  /// The section of each element and its index in the section, by the index of the element in the collection.
  private(set) var paths: [IndexPath] = []
  private(set) var sections: [Key: Int] = [:]

  init(_ keysOfElements: [Key]) {
    paths.reserveCapacity(keysOfElements.count)
    for (place, key) in keysOfElements.enumerated() {
      let section = sections[key] ?? keys.count
      if section == keys.count {
        sections[key] = section
        keys.append(key)
        members.append([])
      }
      paths.append(IndexPath(indexes: [section, members[section].count]))
      members[section].append(place)
    }
  }

  func key(ofPlace place: Int) -> Key { keys[paths[place][0]] }

  /// Returns the change from this layout to a newer one.
  func change(to new: SectionLayout, _ change: ElementsChange) -> SectionsChange {
    let moved = ListChanges(from: keys, to: new.keys)
    let (goneSections, madeSections) = (Set(moved.deletions), Set(moved.insertions))
    var found = SectionsChange()
    found.sectionsToDelete = IndexSet(moved.deletions)
    found.sectionsToInsert = IndexSet(moved.insertions)
    found.deletions = change.deletions.map { paths[$0] }
    found.insertions = change.insertions.map { new.paths[$0] }
    let modified = Set(change.modifications)
    // Goes through the elements that are in the collection both before and after the change.
    var (deletion, insertion, place) = (0, 0, 0)
    for old in paths.indices {
      if deletion < change.deletions.count, change.deletions[deletion] == old {
        deletion += 1
        continue
      }
      while insertion < change.insertions.count, change.insertions[insertion] == place {
        insertion += 1
        place += 1
      }
      let (before, after) = (paths[old], new.paths[place])
      let stays =
        keys[before[0]] == new.keys[after[0]] && !goneSections.contains(before[0])
        && !madeSections.contains(after[0])
      if !stays {
        found.deletions.append(before)
        found.insertions.append(after)
      } else if modified.contains(old) {
        found.modifications.append(before)
      }
      place += 1
    }
    found.deletions.sort()
    found.insertions.sort()
    found.modifications.sort()
    return found
  }
}

/// The changes of sections and of their elements.
struct SectionsChange {
  var deletions: [IndexPath] = []
  var insertions: [IndexPath] = []
  var modifications: [IndexPath] = []
  var sectionsToInsert = IndexSet()
  var sectionsToDelete = IndexSet()

  var isEmpty: Bool {
    deletions.isEmpty && insertions.isEmpty && modifications.isEmpty && sectionsToInsert.isEmpty
      && sectionsToDelete.isEmpty
  }
}
