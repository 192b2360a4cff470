import Foundation
import SyncPrograms

/// The check that at the end all clients show the same objects as a new client, and that these are the committed
/// objects.
struct Convergence {
  let scene: Scene
  /// The address of the server itself, without a proxy.
  let server: String
  let report: Report
  /// True for an error that a client may report.
  var isExpected: (String) -> Bool = { _ in false }

  /// The models of the clients' commits, with the number of entries that existed before.
  static func models(of workers: [WorkerProgram], preloaded: Int) -> [Int: AuthorModel] {
    var models = [0: AuthorModel(0)]
    models[0]?.entries = Set(1..<preloaded + 1)
    for worker in workers { models[worker.author] = AuthorModel(worker.author, commits: worker.committed) }
    return models
  }

  /// The number of a client that writes nothing.
  private static let newClient = 90

  /// Lets clients that no longer write upload and download, and compares their objects.
  ///
  /// - Parameter models: The objects that must exist, by the numbers of authors.
  func check(_ workers: [WorkerProgram], _ models: [Int: AuthorModel]) throws {
    for worker in workers { try worker.settle() }
    let new = scene.worker(Self.newClient, of: server)
    try new.start()
    defer { new.end() }
    let hash = try show(new)
    for worker in workers where try show(worker) != hash {
      report.diverged += 1
      report.check(false, "The client \(worker.author) shows something else than a new client.")
    }
    let text = try String(contentsOf: new.files.appending(path: Content.file), encoding: .utf8)
    compare(Content(text: text), models)
    for worker in workers { note(worker) }
  }

  /// - Returns: The hash of the objects that a client shows when it has all objects of the server.
  private func show(_ worker: WorkerProgram) throws -> String {
    try worker.ask("content", "content", within: 120).first ?? ""
  }

  private func note(_ worker: WorkerProgram) {
    report.lost += worker.lost
    report.doubled += worker.doubled
    let errors = worker.errors.filter { !isExpected($0) }
    report.errors += errors.count
    for error in errors.prefix(3) { report.check(false, "The client \(worker.author): \(error)") }
    report.check(
      worker.lost + worker.doubled == 0,
      "The client \(worker.author): of commits that it had told its file lacks \(worker.lost), and has \(worker.doubled) that it had not made."
    )
  }

  private func compare(_ content: Content, _ models: [Int: AuthorModel]) {
    let authors = content.authors
    for author in Set(models.keys).union(authors.keys).sorted() {
      compare(authors[author] ?? AuthorModel(author), models[author] ?? AuthorModel(author))
    }
    let sum = models.values.reduce(0) { $0 + $1.boards }
    let found = content.boardSum ?? 0
    report.lost += max(0, sum - found)
    report.doubled += max(0, found - sum)
    report.check(found == sum, "The board has the sum \(found), and not \(sum).")
  }

  private func compare(_ found: AuthorModel, _ expected: AuthorModel) {
    guard found != expected else { return }
    let pairs = [
      (found.last, expected.last), (found.sum, expected.sum), (found.boards, expected.boards),
    ]
    for (found, expected) in pairs {
      report.lost += max(0, expected - found)
      report.doubled += max(0, found - expected)
    }
    let lists = [
      (found.recent, expected.recent), (Array(found.entries), Array(expected.entries)),
    ]
    for (found, expected) in lists {
      report.lost += Set(expected).subtracting(found).count
      report.doubled += max(0, found.count - Set(found).count) + Set(found).subtracting(expected).count
    }
    report.check(
      false,
      "The author \(expected.author) is at \(found.numbers), with the list \(found.recent) and \(found.entries.count) entries; there should be \(expected.numbers), "
        + "\(expected.recent) and \(expected.entries.count).")
  }
}

extension AuthorModel {
  fileprivate var numbers: [Int] { [last, sum, boards] }
}
