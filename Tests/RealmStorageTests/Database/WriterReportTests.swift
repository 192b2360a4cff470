import Foundation
import RealmStorage
import Testing

@Suite struct WriterReportTests {
  @Test func `a report has the writing process, its duration and the number of waiting threads`() throws {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).realm")
      .path
    defer { _ = try? Database.removeFiles(path: path) }
    // Another handle reads the report, as another process would.
    let (database, other) = (try Database(path: path), try Database(path: path))
    #expect(other.writerReport().openFor == nil && other.writerReport().processID == nil)
    let transaction = try database.beginWrite()
    let done = DispatchSemaphore(value: 0)
    for _ in 0..<3 {
      Thread {
        let transaction = try! database.beginWrite()
        transaction.cancel()
        done.signal()
      }.start()
    }
    while other.writerReport().waiting < 3 { Thread.sleep(forTimeInterval: 0.001) }
    let report = try other.storageReport().writer
    #expect(report.processID == getpid() && report.waiting == 3)
    #expect(try #require(report.openFor) >= .zero && #require(report.openFor) < .seconds(60))
    transaction.cancel()
    for _ in 0..<3 { done.wait() }
    #expect(other.writerReport().openFor == nil && other.writerReport().waiting == 0)
  }

  @Test func `a version that is held for a purpose is reported with the purpose until it is released`() throws
  {
    let database = try Database(inMemory: "purpose")
    var first: Snapshot? = try database.snapshot()
    var kept: Snapshot? = try first?.held(for: "frozen")
    first = nil
    try database.write { _ = try $0.tree("t").set([1], for: [1]) }
    let pinned = try database.pinnedVersions()
    #expect(pinned.map(\.purpose) == ["frozen"] && pinned.first?.version == kept?.version)
    kept = nil
    #expect(try database.pinnedVersions().isEmpty)
  }

  @Test func `a transaction that does not wait begins only if no other transaction is open`() throws {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).realm")
      .path
    defer { _ = try? Database.removeFiles(path: path) }
    let (database, other) = (try Database(path: path), try Database(path: path))
    let transaction = try #require(try database.beginWriteIfFree())
    #expect(try database.beginWriteIfFree() == nil)
    #expect(try other.beginWriteIfFree() == nil)
    _ = try transaction.tree("t").set([1], for: [1])
    try transaction.commit(.relaxed)
    try database.flush()
    let next = try #require(try other.beginWriteIfFree())
    #expect(try database.beginWriteIfFree() == nil)
    next.cancel()
    #expect(try database.beginWriteIfFree() != nil)
  }
}
