public import Dispatch
public import Foundation
import RealmStorage

/// Sections of a collection, or one of its sections.
public protocol RealmSectionedResult: RandomAccessCollection, Equatable, ThreadConfined
where Index == Int {
  /// The realm that the elements are read from.
  var realm: Realm? { get }
  /// Whether the realm was invalidated, or the object that the results belong to was deleted.
  var isInvalidated: Bool { get }
  /// The number of sections, or of the elements of one section.
  var count: Int { get }
  /// Whether the sections are frozen.
  var isFrozen: Bool { get }
  /// A frozen copy, which shows the version that its realm reads now, for any thread.
  func freeze() -> sending Self
  /// A live copy, at the newest version; nil if the object that the results belong to is not there any more.
  func thaw() -> Self?
  /// Calls a block when the sections change; see `SectionedResultsChange`.
  func observe(
    keyPaths: [String]?, on queue: DispatchQueue?, _ block: @escaping (SectionedResultsChange<Self>) -> Void
  ) -> NotificationToken

  /// For the library only.
  func _sections(_ keyPaths: [String]?, _ tell: @escaping (_SectionsTold) -> Void) -> _SectionsObserver
}

/// A change of sections, with which their observers are called.
public enum SectionedResultsChange<Collection> {
  /// The first call, with the sections as they are now.
  case initial(Collection)
  /// The sections have changed since the previous call. To get from the older sections to the newer ones: remove the elements of
  /// `deletions`, then the sections of `sectionsToDelete`, insert those of `sectionsToInsert`, then the elements of `insertions`.
  /// An element whose key changed counts as removed and inserted, and so do the elements of a section that is removed or
  /// inserted.
  ///
  /// - Parameters:
  ///   - deletions: section and index in the older sections, in ascending order.
  ///   - insertions: section and index in the newer sections, in ascending order.
  ///   - modifications: section and index in the older sections, in ascending order.
  ///   - sectionsToInsert: indexes of sections among the newer ones.
  ///   - sectionsToDelete: indexes of sections among the older ones.
  case update(
    Collection, deletions: [IndexPath], insertions: [IndexPath], modifications: [IndexPath],
    sectionsToInsert: IndexSet, sectionsToDelete: IndexSet)
  /// The file can't be read any more. This is the last call.
  case error(any Error)
}

/// For the library only: a change of sections, before it has the type that the program sees.
public struct _SectionsTold { let told: Told<SectionsChange> }
/// For the library only: the observer of sections.
public struct _SectionsObserver { let observation: Observation }

extension RealmSectionedResult {
  /// Calls a block when the sections change: once soon, with `.initial`, then after each change. What counts as a modification,
  /// the parameters, the preconditions and the result are those of `RealmCollection.observe`. An observer of one section is not
  /// told what happens in others.
  public func observe(
    keyPaths: [String]? = nil, on queue: DispatchQueue? = nil,
    _ block: @escaping (SectionedResultsChange<Self>) -> Void
  ) -> NotificationToken {
    Observing.begin(
      self, on: queue,
      { sections in sections._sections(keyPaths) { block($0.told.of(sections)) }.observation },
      { block(.error($0)) })
  }

  /// Calls a block when the sections change, with key paths of the class of the objects: see `observe(keyPaths:on:_:)`.
  public func observe(
    keyPaths: [PartialKeyPath<Element.Element>], on queue: DispatchQueue? = nil,
    _ block: @escaping (SectionedResultsChange<Self>) -> Void
  ) -> NotificationToken where Element: RealmSectionedResult, Element.Element: ObjectBase {
    observe(keyPaths: keyPaths.map(PropertyRecorder.joinedNames), on: queue, block)
  }

  /// Calls a block when the section changes, with key paths of the class of the objects: see `observe(keyPaths:on:_:)`.
  public func observe(
    keyPaths: [PartialKeyPath<Element>], on queue: DispatchQueue? = nil,
    _ block: @escaping (SectionedResultsChange<Self>) -> Void
  ) -> NotificationToken where Element: ObjectBase {
    observe(keyPaths: keyPaths.map(PropertyRecorder.joinedNames), on: queue, block)
  }

  /// Calls a block in an actor when the sections change: see `observe(keyPaths:on:_:)`. The block is isolated to the actor and
  /// gets the sections that belong to it.
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

  /// Calls a block in an actor when the sections change, with key paths of the class of the objects: see
  /// `observe(keyPaths:on:_:)`.
  public func observe<A: Actor>(
    keyPaths: [PartialKeyPath<Element.Element>], on actor: A, _isolation: isolated (any Actor)? = #isolation,
    _ block: @escaping @Sendable (isolated A, SectionedResultsChange<Self>) -> Void
  ) async -> NotificationToken where Element: RealmSectionedResult, Element.Element: ObjectBase {
    await observe(
      keyPaths: keyPaths.map(PropertyRecorder.joinedNames), on: actor, _isolation: _isolation, block)
  }

  /// Calls a block in an actor when the section changes, with key paths of the class of the objects: see
  /// `observe(keyPaths:on:_:)`.
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
  /// Makes an observer of the collection. When a change is told, it finds the sections of the elements.
  ///
  /// - Parameter only: the key of the section that is observed; nil for all sections.
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
  /// The part of a change that concerns one section.
  ///
  /// - Parameters:
  ///   - old: the index of the section among the older ones; nil if it was not there.
  ///   - new: the index of the section among the newer ones; nil if it is not there.
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
  /// For the library only.
  public func _sections(_ keyPaths: [String]?, _ tell: @escaping (_SectionsTold) -> Void) -> _SectionsObserver
  {
    _SectionsObserver(observation: content.observation(keyPaths, only: nil, tell))
  }
}

extension ResultsSection {
  /// For the library only.
  public func _sections(_ keyPaths: [String]?, _ tell: @escaping (_SectionsTold) -> Void) -> _SectionsObserver
  {
    _SectionsObserver(observation: content.observation(keyPaths, only: key, tell))
  }
}
