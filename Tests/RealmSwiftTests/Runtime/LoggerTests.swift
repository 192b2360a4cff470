import Foundation
import RealmSwift
import Synchronization
import Testing

@Suite struct LoggerTests {
  @Test func `a logger gets the messages of realms at its level and below`() throws {
    let told = Mutex<[(LogLevel, String)]>([])
    let logger = Logger(
      level: .info, logFunction: { level, message in told.withLock { $0.append((level, message)) } })
    let before = Logger.shared
    Logger.shared = logger
    defer { Logger.shared = before }
    let file = TemporaryFile(named: "logged")
    let configuration = Realm.Configuration(fileURL: file.url, objectTypes: [Dog.self, Person.self])
    func use() throws {
      try autoreleasepool {
        let realm = try Realm(configuration: configuration)
        try realm.write { realm.create(Dog.self) }
      }
    }
    func levels() -> [LogLevel] {
      told.withLock { all in
        defer { all = [] }
        return all.filter { $0.1.contains("logged") }.map(\.0)
      }
    }
    try use()
    #expect(levels() == [.info])
    logger.level = .all
    try use()
    #expect(levels() == [.info, .debug, .detail])
    logger.level = .off
    try use()
    #expect(levels() == [])
    #expect([LogLevel.trace, .warn, .fatal, .error].sorted() == [.fatal, .error, .warn, .trace])
    #expect("\(LogLevel.warn)" == "warn")
  }
}
