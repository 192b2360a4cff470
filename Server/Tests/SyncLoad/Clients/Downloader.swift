import Foundation
import RealmSwift
import SyncPrograms

/// At the first order it opens an empty file, and tells how long it takes until all objects are in it, how much memory that needs, and how long the app's own
/// writes take meanwhile.
@MainActor
final class Downloader {
  private let options: ClientOptions
  private var isOver = false

  /// Milliseconds between two writes of the app.
  private static let pause = 20.0

  init(_ options: ClientOptions) { self.options = options }

  /// Not async, so that the realm opens at once.
  private func open(_ configuration: Realm.Configuration) throws -> Realm {
    try Realm(configuration: configuration)
  }

  func run() async throws {
    let device = Device(options)
    let user = try await device.app.login(credentials: .anonymous)
    let configuration = user.configuration(of: options.content)
    say("ready")
    _ = await Orders.next()
    let memory = MemoryWatch()
    let start = ContinuousClock.now
    // It is open at once, so that the app can write.
    let realm = try open(configuration)
    let download = Task.detached { try await Opener().open(configuration) }
    Task {
      _ = await download.result
      isOver = true
    }
    let waits = try await options.isWriting ? write(to: realm) : []
    let (objects, end) = try await download.value
    guard objects == options.objects else {
      fail("\(objects) objects have come in place of \(options.objects).")
    }
    let most = memory.end()
    let figures = [
      (end - start) / .seconds(1), Double(most - memory.atStart), waits.percentile(50), waits.percentile(99),
    ]
    say("downloaded " + figures.map { "\($0)" }.joined(separator: " "))
    let peak = ProcessFigures.bytes("VmHWM", of: "self") ?? 0
    say("peak \(peak)")
    _ = await Orders.next()
    withExtendedLifetime(realm) {}
  }

  /// The app writes until all is there. A write is due once in a while, whether or not the one before is done.
  ///
  /// - Returns: milliseconds that each write has taken. Those that were due while another one waited have waited too.
  private func write(to realm: Realm) async throws -> [Double] {
    var waits: [Double] = []
    var number = 0
    while !isOver {
      let start = ContinuousClock.now
      number += 1
      try realm.write {
        _ = realm.create(Counter.self, value: ["id": Counter.own, "number": number], update: .modified)
      }
      let wait = (ContinuousClock.now - start) / .milliseconds(1)
      for due in stride(from: wait, to: 0, by: -Self.pause) { waits.append(due) }
      // Others of the main actor have their turn here, too.
      try await Task.sleep(for: .milliseconds(max(1, Self.pause - wait)))
    }
    return waits
  }
}

/// Opens a realm when all that the server has is in it.
private actor Opener {
  /// - Returns: how many persons there are, and when they were.
  func open(_ configuration: Realm.Configuration) async throws -> (Int, ContinuousClock.Instant) {
    let realm = try await Realm(configuration: configuration, actor: self, downloadBeforeOpen: .always)
    let end = ContinuousClock.now
    return (realm.objects(Person.self).count, end)
  }
}
