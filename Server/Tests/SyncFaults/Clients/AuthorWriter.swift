import Foundation
import RealmSwift
import SyncPrograms

/// Makes the commits of an author one after another, and reports each when it is made.
@MainActor
final class AuthorWriter {
  /// The number of the last commit. It continues from the state of the file.
  private(set) var number: Int
  /// The server has the commits up to this number.
  var settled: Int
  private let realm: Realm
  private let author: Int
  private let isRelaxed: Bool
  private var isWriting = false
  private var task: Task<Void, Never>?

  /// The most commits that the writer makes ahead of the server.
  private static let mostPending = 500

  init(_ realm: Realm, _ author: Int, isRelaxed: Bool) {
    (self.realm, self.author, self.isRelaxed) = (realm, author, isRelaxed)
    number = realm.object(ofType: Author.self, forPrimaryKey: author)?.last ?? 0
    settled = number
  }

  // MARK: - Writing

  /// Begins to write.
  ///
  /// - Parameters:
  ///   - pause: The microseconds between two commits.
  ///   - bytes: The length of the texts of entries.
  func begin(pause: Int, bytes: Int) {
    guard !isWriting else { return }
    isWriting = true
    task = Task { await write(pause, bytes) }
  }

  func stop() async {
    isWriting = false
    await task?.value
  }

  private func write(_ pause: Int, _ bytes: Int) async {
    // Another client has made the board. A client can't add to the board before it sees it.
    while isWriting, usesBoard, board == nil { try? await Task.sleep(for: .milliseconds(20)) }
    while isWriting {
      guard number - settled < Self.mostPending else {
        try? await Task.sleep(for: .milliseconds(5))
        continue
      }
      do {
        try commit(bytes)
      } catch {
        isWriting = false
        return say("refused \((error as? Realm.Error)?.code.rawValue ?? 0) \(error.localizedDescription)")
      }
      number += 1
      say("c \(number)")
      // Other tasks of the main actor have their turn here.
      try? await Task.sleep(for: .microseconds(pause))
    }
  }

  private func commit(_ bytes: Int) throws {
    guard isRelaxed else { return try realm.write { change(number + 1, bytes) } }
    realm.beginWrite()
    change(number + 1, bytes)
    realm.commitAsyncWrite(allowGrouping: true) { error in
      if let error { say("error 0 \(error.localizedDescription)") }
    }
  }

  private var usesBoard: Bool { author < CommitKind.firstWithoutBoard }

  private var board: Board? { realm.object(ofType: Board.self, forPrimaryKey: Board.only) }

  private func change(_ number: Int, _ bytes: Int) {
    let known = realm.object(ofType: Author.self, forPrimaryKey: author)
    let me = known ?? realm.create(Author.self, value: ["id": author])
    me.last = number
    me.increment(\.sum)
    switch CommitKind(number) {
    case .makesEntry: make(author, number, bytes)
    case .changesList:
      me.recent.append(number)
      if me.recent.count > CommitKind.fullList { me.recent.remove(at: 0) }
    case .changesBoard:
      guard usesBoard, let board else { return }
      board.increment(\.sum)
      board.text = "\(author)-\(number)"
      me.increment(\.boards)
    case .removesEntry(let old):
      guard let old, let entry = realm.object(ofType: Entry.self, forPrimaryKey: "\(author)-\(old)") else {
        return
      }
      realm.delete(entry)
    }
  }

  private func make(_ author: Int, _ number: Int, _ bytes: Int) {
    let entry = Entry()
    entry.id = "\(author)-\(number)"
    entry.text = Self.noise(bytes, seed: UInt64(author << 32 + number))
    realm.add(entry)
  }

  /// A random text, which takes about as many bytes on a disk as it has characters.
  private static func noise(_ count: Int, seed: UInt64) -> String {
    var random = SeededNumbers(seed: seed)
    return String(decoding: (0..<count).map { _ in UInt8(97 + random.below(26)) }, as: UTF8.self)
  }

  // MARK: - What is there at first

  /// Makes the board, and `count` entries of the author 0.
  func preload(_ count: Int) throws {
    try realm.write {
      let board = Board()
      board.id = Board.only
      realm.add(board)
    }
    for first in stride(from: 1, through: count, by: 1000) {
      try realm.write { for number in first...min(count, first + 999) { make(0, number, 60) } }
    }
  }
}
