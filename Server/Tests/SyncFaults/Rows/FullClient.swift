import Foundation
import SyncPrograms

/// The client's files are on a disk that gets full. Its own writes are refused with a typed error, and the changes of
/// others reach it when there is space again.
struct FullClient {
  let scene: Scene
  let disk: SmallDisk

  private static let preloaded = 50
  /// The length of the texts of entries, in bytes.
  private static let large = 20_000
  /// The code `Realm.Error.Code.outOfDiskSpace`.
  private static let outOfSpace = "14 "
  /// The code `SyncError.Code.clientInternalError`.
  private static let internalError = "6 "

  func run() throws -> Report {
    let report = Report("full-client")
    let server = try scene.startServer()
    defer { server.end() }
    let full = scene.worker(1, of: server.address, files: disk.folder.appending(path: "files"))
    let other = scene.worker(2, of: server.address)
    defer { for worker in [full, other] { worker.end() } }
    try begin(full, other)
    try disk.fill()

    // First the client itself writes.
    try full.write(bytes: Self.large)
    let isRefused = try full.waits(within: 60) { !$0.refusals.isEmpty }
    try full.stop()
    report.check(isRefused, "No commit was refused, though the disk is full.")
    for refusal in full.refusals where !refusal.hasPrefix(Self.outOfSpace) {
      report.check(false, "A commit was refused by another error: \(refusal)")
    }
    let before = full.committed

    // Then another client writes far more than there is space for.
    let start = other.committed
    try other.write(pause: 1000, bytes: Self.large)
    let hasWritten = try other.waits(within: 60) { $0.committed > start + 400 }
    try other.stop()
    try other.settle()
    report.check(hasWritten, "The other client writes too little.")
    let isTold = try full.waits(within: 20) { !$0.errors.isEmpty }
    try full.ask("ping", "pong")
    let refused = full.refusals.count

    // There is space again. A session that has ended continues when the app asks for it.
    try disk.free()
    try full.ask("resume", "resumed")
    try full.write()
    let goesOn = try full.waits(within: 60) { $0.committed >= before + 20 }
    try full.stop()
    report.check(goesOn && full.refusals.count == refused, "The client does not write: \(full.refusals)")
    let workers = [full, other]
    // The client's handler may be told only that the file can't be written.
    try Convergence(
      scene: scene, server: server.address, report: report,
      isExpected: { $0.hasPrefix(Self.internalError) }
    ).check(workers, Convergence.models(of: workers, preloaded: Self.preloaded))
    report.add("refused", refused)
    report.add("told", isTold ? 1 : 0)
    report.add("committed", full.committed)
    return report
  }

  private func begin(_ full: WorkerProgram, _ other: WorkerProgram) throws {
    try other.start()
    try other.ask("preload \(Self.preloaded)", "preloaded")
    try full.start()
    for worker in [full, other] {
      try worker.write(pause: 2000)
      try worker.waitForCommit()
    }
    try Interruption.wait(seconds: 0.5)
    for worker in [full, other] {
      try worker.stop()
      try worker.settle()
    }
  }
}
