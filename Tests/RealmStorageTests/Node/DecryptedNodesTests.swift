import Foundation
import Synchronization
import RealmTestSupport
import Testing

@testable import RealmStorage

@Suite struct DecryptedNodesTests {
  private final class Tally: Sendable {
    let right = Atomic<Int>(0)
    let finished = Atomic<Int>(0)
  }

  /// The content of the node at `unit`. It depends on the place alone, differs from the neighbours, and has no zero
  /// bytes.
  private static func content(at unit: UInt64) -> [UInt8] {
    let page = unit / 64
    let count = page % 20 == 0 ? 262_000 : 1000 + Int(page * 7919 % 40_000)
    return [UInt8](repeating: UInt8(1 + page % 251), count: count)
  }

  private static func isWhole(_ view: NodeView, _ ref: Ref) -> Bool {
    let expected = content(at: ref.unit)
    guard Int(view.load(UInt32.self, at: 0)) == expected.count else { return false }
    return view.bytes(at: 8, count: expected.count).compare(expected.span.bytes) == 0
  }

  /// Reads both nodes while views of both are held, and compares their contents.
  private static func areWhole(
    _ first: Ref, _ second: Ref, in store: NodeStore, below end: UInt64
  ) throws(StorageError) -> Bool {
    let access = store.access(below: end)
    let one = try access.node(first)
    let other = try access.node(second)
    let isWholeOne = isWhole(one, first)
    let isWholeOther = isWhole(other, second)
    return isWholeOne && isWholeOther
  }

  @Test(arguments: 0..<3)
  func `threads that read more nodes than fit in memory see the right bytes`(seed: UInt64) throws {
    let file = try NodeFile(key: Keys.first, decryptedLimit: 1 << 20)
    var written: [Ref] = []
    for _ in 0..<150 {
      let content = Self.content(at: UInt64(file.nextPage) * 64)
      let ref = try file.writeChunk(content, birth: 1)
      written.append(ref)
    }
    let refs = written
    let store = file.store
    let end = try file.storage.length()
    #expect(end > 3 << 20)
    let tally = Tally()
    for thread in 0..<4 {
      Thread.detachNewThread {
        var generator = SeededGenerator(seed: seed * 4 + UInt64(thread))
        for _ in 0..<150 {
          let first = refs[generator.below(refs.count)]
          let second = refs[generator.below(refs.count)]
          if (try? Self.areWhole(first, second, in: store, below: end)) == true {
            tally.right.add(1, ordering: .relaxed)
          }
        }
        tally.finished.add(1, ordering: .sequentiallyConsistent)
      }
    }
    while tally.finished.load(ordering: .sequentiallyConsistent) < 4 { Thread.sleep(forTimeInterval: 0.001) }
    let right = tally.right.load(ordering: .relaxed)
    #expect(right == 600)
  }

  @Test func `nodes that do not fit in memory are unsealed again`() throws {
    let file = try NodeFile(key: Keys.first, decryptedLimit: 1 << 20)
    let content = [UInt8](repeating: 5, count: 60_000)
    var refs: [Ref] = []
    for _ in 0..<64 {
      let ref = try file.writeChunk(content, birth: 1)
      refs.append(ref)
    }
    for ref in refs { #expect(try file.finding(ref) == nil) }
    let length = try file.storage.length()
    try file.overwrite([UInt8](repeating: 0, count: Int(length) - 8192), at: 8192)
    var kept = 0
    for ref in refs.reversed() {
      if try file.finding(ref) == nil { kept += 1 }
    }
    #expect(kept > 0)
    #expect(kept * 60_000 <= 1 << 20)
  }

  @Test func `memory is given back while readers overlap`() throws {
    let (chunk, count) = (DecryptedNodes.chunk, 64)
    let nodes = try #require(DecryptedNodes(size: count * chunk, limit: 16 * chunk))
    let memory = try #require(Mapping.anonymous(SeenNodes.size(forBytes: count * chunk)))
    defer { withExtendedLifetime(memory) {} }
    let seen = SeenNodes(memory)
    var reader = nodes.enter()
    for index in 0..<count {
      let next = nodes.enter()
      reader.leave()
      reader = next
      let place = index * chunk..<(index + 1) * chunk
      nodes.willFill(place, seen: seen)
      nodes.memory.base.storeBytes(of: 1, toByteOffset: place.lowerBound, as: UInt8.self)
      nodes.didFill(place, unit: UInt64(place.lowerBound / Ref.unit), birth: 1, seen: seen)
    }
    reader.leave()
    var resident = 0
    for index in 0..<count {
      if nodes.memory.base.load(fromByteOffset: index * chunk, as: UInt8.self) == 1 { resident += 1 }
    }
    #expect(resident >= 16)
    #expect(resident <= 32)
  }

  @Test func `no decrypted node is dropped while a reader stays, and nodes that are read again are kept`()
    throws
  {
    let (chunk, count) = (DecryptedNodes.chunk, 64)
    let nodes = try #require(DecryptedNodes(size: count * chunk, limit: 16 * chunk))
    let memory = try #require(Mapping.anonymous(SeenNodes.size(forBytes: count * chunk)))
    defer { withExtendedLifetime(memory) {} }
    let seen = SeenNodes(memory)
    func fill(_ index: Int) {
      let place = index * chunk..<(index + 1) * chunk
      nodes.willFill(place, seen: seen)
      nodes.memory.base.storeBytes(of: 1, toByteOffset: place.lowerBound, as: UInt8.self)
      nodes.didFill(place, unit: UInt64(place.lowerBound / Ref.unit), birth: 1, seen: seen)
    }
    func isThere(_ index: Int) -> Bool {
      nodes.memory.base.load(fromByteOffset: index * chunk, as: UInt8.self) == 1
    }
    let reader = nodes.enter()
    // Each node is filled many times, so that it is dropped and kept again while the reader stays.
    for _ in 0..<20 { for index in 0..<count { fill(index) } }
    #expect(nodes.residentBytes == count * chunk)
    #expect((0..<count).allSatisfy(isThere))
    reader.leave()
    for _ in 0..<4 { fill(0) }
    #expect(nodes.residentBytes <= 17 * chunk && nodes.residentBytes >= 16 * chunk)
    #expect(isThere(0))
    #expect((0..<count).filter(isThere).count * chunk == nodes.residentBytes)
  }
}
