import Foundation
import RealmSwift
import SyncPrograms

/// Opens an empty file at the first order, and reports the time until all objects are there, the memory that the
/// download needs, and the times of the app's own writes meanwhile.
@MainActor
final class Downloader {
  private let options: ClientOptions
  private var isOver = false

  /// The milliseconds between two writes of the app.
  private static let pause = 20.0

  init(_ options: ClientOptions) { self.options = options }

  /// Opens a realm at once. The function is not async, because an async function can only open a realm with await.
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
    // The realm opens at once, so that the app can write.
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

  /// Lets the app write until all objects are there. Writes are due at regular times, even if the previous one is not
  /// done.
  ///
  /// - Returns: The milliseconds that each write has taken. A write that was due while another one waited has waited
  ///   too.
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
      // Other tasks of the main actor also have their turn here.
      try await Task.sleep(for: .milliseconds(max(1, Self.pause - wait)))
    }
    return waits
  }
}

/// Opens a realm when it has all objects of the server.
private actor Opener {
  /// - Returns: The number of persons, and the time when they were there.
  func open(_ configuration: Realm.Configuration) async throws -> (Int, ContinuousClock.Instant) {
    let realm = try await Realm(configuration: configuration, actor: self, downloadBeforeOpen: .always)
    let end = ContinuousClock.now
    return (realm.objects(Person.self).count, end)
  }
}
