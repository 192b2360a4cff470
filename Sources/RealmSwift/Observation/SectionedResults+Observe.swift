public import Dispatch
public import Foundation
import RealmStorage

/// Sections of a collection, or one of them.
public protocol RealmSectionedResult: RandomAccessCollection, Equatable, ThreadConfined
where Index == Int {
  /// The realm that the elements are read from.
  var realm: Realm? { get }
  /// The realm was invalidated, or what the results belong to was deleted.
  var isInvalidated: Bool { get }
  /// The number of sections, or of the elements of one.
  var count: Int { get }
  /// Whether it is frozen.
  var isFrozen: Bool { get }
  /// The same as it is in the version that its realm reads, for any thread.
  func freeze() -> sending Self
  /// The same as it is in the newest version, live; nil where it is not there any more.
  func thaw() -> Self?
  /// Calls a block when the sections change; see `SectionedResultsChange`.
  func observe(
    keyPaths: [String]?, on queue: DispatchQueue?, _ block: @escaping (SectionedResultsChange<Self>) -> Void
  ) -> NotificationToken

  func _sections(_ keyPaths: [String]?, _ tell: @escaping (_SectionsTold) -> Void) -> _SectionsObserver
}

/// A change of sections, as an observer of them is told.
public enum SectionedResultsChange<Collection> {
  /// The first call: the sections as they are now.
  case initial(Collection)
  /// The sections have changed since the call before. To get from the older sections to the newer ones: remove the elements of `deletions`, then the sections of `sectionsToDelete`, add
  /// those of `sectionsToInsert`, then the elements of `insertions`. An element that has another key now, and those of a section that is removed or added, are removed and added.
  ///
  /// - Parameters:
  ///   - deletions: section and place in the older sections, growing.
  ///   - insertions: section and place in the newer sections, growing.
  ///   - modifications: section and place in the older sections, growing.
  ///   - sectionsToInsert: places of sections among the newer ones.
  ///   - sectionsToDelete: places of sections among the older ones.
  case update(
    Collection, deletions: [IndexPath], insertions: [IndexPath], modifications: [IndexPath],
    sectionsToInsert: IndexSet, sectionsToDelete: IndexSet)
  /// The file can't be read any more. Nothing more is told.
  case error(any Error)
}

/// A change of sections before it has the type that the program sees.
public struct _SectionsTold { let told: Told<SectionsChange> }
/// For the library only.
public struct _SectionsObserver { let observation: Observation }

extension RealmSectionedResult {
  /// Calls a block when the sections change: first soon with `.initial`, then after each change; what counts, and the parameters, are as of `RealmCollection.observe`. Of one section what
  /// happens in others is not told.
  public func observe(
    keyPaths: [String]? = nil, on queue: DispatchQueue? = nil,
    _ block: @escaping (SectionedResultsChange<Self>) -> Void
  ) -> NotificationToken {
    Observing.begin(
      self, on: queue,
      { sections in sections._sections(keyPaths) { block($0.told.of(sections)) }.observation },
      { block(.error($0)) })
  }

  /// The same with key paths of the objects' class.
  public func observe(
    keyPaths: [PartialKeyPath<Element.Element>], on queue: DispatchQueue? = nil,
    _ block: @escaping (SectionedResultsChange<Self>) -> Void
  ) -> NotificationToken where Element: RealmSectionedResult, Element.Element: ObjectBase {
    observe(keyPaths: keyPaths.map(PropertyRecorder.joinedNames), on: queue, block)
  }

  /// The same with key paths of the objects' class.
  public func observe(
    keyPaths: [PartialKeyPath<Element>], on queue: DispatchQueue? = nil,
    _ block: @escaping (SectionedResultsChange<Self>) -> Void
  ) -> NotificationToken where Element: ObjectBase {
    observe(keyPaths: keyPaths.map(PropertyRecorder.joinedNames), on: queue, block)
  }

  /// The same in an actor, which the block is isolated to.
  public func observe<A: Actor>(
    keyPaths: [String]? = nil, on actor: A, _isolation: isolated (any Actor)? = #isolation,
    _ block: @escaping @Sendable (isolated A, SectionedResultsChange<Self>) -> Void
  ) async -> NotificationToken {
    await Observing.begin(
      self, on: actor, _isolation: _isolation,
      { sections, actor in
        sections._sections(keyPaths) { [weak actor] in actor?.tell($0.told.of(sections), block) }.observation
      },
      { block($1, .error($0)) })
  }

  /// The same in an actor, with key paths of the objects' class.
  public func observe<A: Actor>(
    keyPaths: [PartialKeyPath<Element.Element>], on actor: A, _isolation: isolated (any Actor)? = #isolation,
    _ block: @escaping @Sendable (isolated A, SectionedResultsChange<Self>) -> Void
  ) async -> NotificationToken where Element: RealmSectionedResult, Element.Element: ObjectBase {
    await observe(
      keyPaths: keyPaths.map(PropertyRecorder.joinedNames), on: actor, _isolation: _isolation, block)
  }

  /// The same in an actor, with key paths of the objects' class.
  public func observe<A: Actor>(
    keyPaths: [PartialKeyPath<Element>], on actor: A, _isolation: isolated (any Actor)? = #isolation,
    _ block: @escaping @Sendable (isolated A, SectionedResultsChange<Self>) -> Void
  ) async -> NotificationToken where Element: ObjectBase {
    await observe(
      keyPaths: keyPaths.map(PropertyRecorder.joinedNames), on: actor, _isolation: _isolation, block)
  }
}

extension Told<SectionsChange> {
  fileprivate func of<C>(_ sections: C) -> SectionedResultsChange<C> {
    switch self {
    case .initial: .initial(sections)
    case .update(let change):
      .update(
        sections, deletions: change.deletions, insertions: change.insertions,
        modifications: change.modifications,
        sectionsToInsert: change.sectionsToInsert, sectionsToDelete: change.sectionsToDelete)
    case .error(let error): .error(error)
    }
  }
}

extension SectionContent {
  /// Observes the collection; which section its elements belong to is found where it is told.
  ///
  /// - Parameter only: the key of the section that is observed; nil for all.
  fileprivate func observation(
    _ keyPaths: [String]?, only: Key?, _ tell: @escaping (_SectionsTold) -> Void
  ) -> Observation {
    var told = SectionLayout<Key>([])
    return results.observation(keyPaths, passed: { [self] in told = layout }) { [self] change in
      switch change {
      case .initial:
        told = layout
        tell(_SectionsTold(told: .initial))
      case .error(let error): tell(_SectionsTold(told: .error(error)))
      case .update(let elements):
        let new = layout
        var found = told.change(to: new, elements)
        if let only { found = found.inOne(told.sections[only], new.sections[only]) }
        told = new
        if !found.isEmpty { tell(_SectionsTold(told: .update(found))) }
      }
    }
  }
}

extension SectionsChange {
  /// The part of a change that concerns one section, by its places in the older and the newer sections.
  fileprivate func inOne(_ old: Int?, _ new: Int?) -> SectionsChange {
    var found = self
    found.deletions.removeAll { $0[0] != old }
    found.modifications.removeAll { $0[0] != old }
    found.insertions.removeAll { $0[0] != new }
    found.sectionsToDelete = sectionsToDelete.filteredIndexSet { $0 == old }
    found.sectionsToInsert = sectionsToInsert.filteredIndexSet { $0 == new }
    return found
  }
}

extension SectionedResults {
  public func _sections(_ keyPaths: [String]?, _ tell: @escaping (_SectionsTold) -> Void) -> _SectionsObserver
  {
    _SectionsObserver(observation: content.observation(keyPaths, only: nil, tell))
  }
}

extension ResultsSection {
  public func _sections(_ keyPaths: [String]?, _ tell: @escaping (_SectionsTold) -> Void) -> _SectionsObserver
  {
    _SectionsObserver(observation: content.observation(keyPaths, only: key, tell))
  }
}
