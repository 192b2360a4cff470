/// One commit's share of the walk that moves nodes.
///
/// Nodes are replaced below the transaction's root as a change of their content would replace them: they are copied
/// into its arena, with all nodes above them. If a node can't be copied in the middle of the walk, what was done is
/// undone.
struct MovingWalk {
  private let editor: NodeEditor
  private let pinned: UInt64
  private let maximumBytes: Int
  private let maximumReads: Int
  /// The part that is left of the path to the place where the walk goes on.
  private var resume: ArraySlice<Int>
  private var path: [Int] = []
  private var isStopped = false
  /// The place where the next walk goes on; empty if this walk came to the end.
  private(set) var position: [Int] = []
  private(set) var bytes = 0
  private(set) var moved = 0
  private var reads = 0

  private var made: [Ref] = []
  private var replaced: [Ref] = []
  /// The refs in the transaction's own nodes that were changed in place, with their old values.
  private var changed: [(node: Ref, index: Int, old: Ref)] = []

  init(editor: NodeEditor, from position: [Int], pinned: UInt64, bytes: Int, reads: Int) {
    self.editor = editor
    self.pinned = pinned
    maximumBytes = bytes
    maximumReads = reads
    resume = position[...]
  }

  /// - Throws: the error because of which the walk could not be finished; nothing has changed then.
  mutating func run(_ root: Ref, _ map: PageMap) throws(StorageError) -> Ref {
    do throws(StorageError) {
      let new = try visit(root, map)
      for ref in replaced { editor.free(ref) }
      return new
    } catch {
      for change in changed.reversed() {
        editor.arena.setRef(change.index, of: change.node, to: change.old)
      }
      for ref in made { editor.free(ref) }
      throw error
    }
  }

  private mutating func visit(_ ref: Ref, _ map: PageMap) throws(StorageError) -> Ref {
    // No child is younger than its parent, so no node below may be moved either.
    if !ref.isDirty, ref.birth <= pinned { return passed(ref) }
    let isMoved =
      !ref.isDirty
      && map.isEmptied(unit: Int(ref.unit), units: editor.store.units(ofLength: ref.length))
    guard ref.level > 0 else { return isMoved ? moveLeaf(ref) : ref }
    let isOwn = editor.arena.owns(ref)
    if resume.isEmpty { reads += 1 }
    // A node that can't be read stays where it is. The code that needs its content gets the error.
    guard var children = try? editor.access().children(of: ref) else { return passed(ref) }
    if isMoved { bytes += ref.length }
    var places: [Int] = []
    var index = resume.popFirst() ?? 0
    while index < children.count {
      path.append(index)
      let child = try visitChild(children[index], map)
      path.removeLast()
      if child != children[index] {
        if places.isEmpty, !isMoved, !isOwn { bytes += ref.length }
        note(child, at: index, of: ref, instead: children[index])
        children[index] = child
        places.append(index)
      }
      if isStopped { break }
      resume = []
      index += 1
    }
    guard isMoved || !places.isEmpty, !isOwn else { return ref }
    if isMoved { moved += 1 }
    return try copy(ref, children)
  }

  private mutating func visitChild(_ child: Ref, _ map: PageMap) throws(StorageError) -> Ref {
    if bytes >= maximumBytes || child.level > 0 && reads >= maximumReads && resume.isEmpty {
      isStopped = true
      position = path
      return child
    }
    return try visit(child, map)
  }

  /// Passes over a node. The path to the place where the walk goes on is of no use any more.
  private mutating func passed(_ ref: Ref) -> Ref {
    resume = []
    return ref
  }

  private mutating func note(_ child: Ref, at index: Int, of node: Ref, instead old: Ref) {
    guard editor.arena.owns(node) else { return }
    changed.append((node, index, old))
    editor.arena.setRef(index, of: node, to: child)
  }

  private mutating func moveLeaf(_ ref: Ref) -> Ref {
    do {
      try editor.touch(ref)
      let new = try copy(ref, [])
      bytes += ref.length
      moved += 1
      return new
    } catch {
      return ref
    }
  }

  private mutating func copy(_ ref: Ref, _ children: [Ref]) throws(StorageError) -> Ref {
    let new = try editor.copy(ref, children: children)
    made.append(new)
    replaced.append(ref)
    return new
  }
}
