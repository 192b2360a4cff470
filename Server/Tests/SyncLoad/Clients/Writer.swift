import Dispatch
import Foundation
import RealmSwift
import SyncPrograms

/// Changes a number as often as it is told: to 1, to 2, and so on. It notes the times.
///
/// It takes the order `change COUNT PAUSE`, and the order `begin PAUSE` with a later `stop`. Pauses are in
/// milliseconds. It answers with the last number.
@MainActor
final class Writer {
  private let options: ClientOptions
  private var isToStop = false
  /// The beginning of each change, in nanoseconds of the machine's uptime.
  private var times: [UInt64] = []

  /// The name of the file in the client's folder that has the times.
  nonisolated static let file = "times.json"

  init(_ options: ClientOptions) { self.options = options }

  func run() async throws {
    let device = Device(options)
    let user = try await device.app.login(credentials: .anonymous)
    let (realm, session) = try await device.open(user, options.content)
    try realm.write {
      _ = realm.create(Counter.self, value: ["id": Counter.shared, "number": 0], update: .modified)
    }
    try await session.wait(for: .upload)
    guard let counter = realm.object(ofType: Counter.self, forPrimaryKey: Counter.shared) else {
      fail("What was written is not there.")
    }
    say("ready")
    while true {
      let order = await Orders.next().split(separator: " ")
      let numbers = order.dropFirst().compactMap { Int($0) }
      switch (order.first, numbers.count) {
      case ("change", 2): try await change(counter, in: realm, pause: numbers[1], count: numbers[0])
      case ("begin", 1):
        isToStop = false
        Task {
          _ = await Orders.next()
          isToStop = true
        }
        try await change(counter, in: realm, pause: numbers[0], count: .max)
      default: fail("A writer takes no such order.")
      }
      try await session.wait(for: .upload)
      let file = URL(fileURLWithPath: options.folder).appending(path: Self.file)
      try JSONEncoder().encode(times).write(to: file)
      say("changed \(times.count)")
    }
  }

  private func change(_ counter: Counter, in realm: Realm, pause: Int, count: Int) async throws {
    var done = 0
    while done < count, !isToStop {
      done += 1
      times.append(DispatchTime.now().uptimeNanoseconds)
      let number = times.count
      try realm.write { counter.number = number }
      try await Task.sleep(for: .milliseconds(pause))
    }
    isToStop = false
  }
}
