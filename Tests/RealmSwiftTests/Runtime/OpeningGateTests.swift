import Foundation
@_spi(Testing) import RealmSwift
import Synchronization
import Testing

extension MisuseTests {
  @Test func `files whose migrations open each other stop the program, on one thread and on two`() throws {
    let (first, second) = (TemporaryFile(), TemporaryFile())
    for file in [first, second] { try onThread { _ = try Realm(configuration: file.of(Hamster.self)) } }
    @Sendable func configuration(_ file: TemporaryFile, _ block: @escaping MigrationBlock)
      -> Realm.Configuration
    {
      var configuration = file.of(Hamster.self)
      configuration.schemaVersion = 1
      configuration.migrationBlock = block
      return configuration
    }
    let plain = TemporaryFile()
    try onThread { _ = try Realm(configuration: plain.of(Hamster.self)) }
    expectStop(["Don't open", plain.url.lastPathComponent, "inside its own migrationBlock"]) {
      _ = try Realm(
        configuration: configuration(plain) { _, _ in _ = try? Realm(configuration: plain.of(Hamster.self)) })
    }
    expectStop(["Don't open", "inside its own migrationBlock", "in a circle"]) {
      // Each thread is in its block before it opens the other file.
      let isInside = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      Thread {
        _ = try? Realm(
          configuration: configuration(second) { _, _ in
            isInside.1.signal()
            isInside.0.wait()
            _ = try? Realm(configuration: first.of(Hamster.self))
          })
      }.start()
      _ = try Realm(
        configuration: configuration(first) { _, _ in
          isInside.0.signal()
          isInside.1.wait()
          _ = try? Realm(configuration: second.of(Hamster.self))
        })
    }
    // Other files can still be opened.
    #expect(throws: Never.self) { _ = try memoryRealm([Hamster.self]) }
  }
}
