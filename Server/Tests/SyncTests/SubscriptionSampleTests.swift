import Foundation
import RealmSwift
import Testing

/// The classes in the guide of flexible sync. One of them has the name of a Swift type.
enum Board {
  class Task: Object {
    @Persisted(primaryKey: true) var id: ObjectId
    @Persisted var taskName: String
    @Persisted var assignee: String?
    @Persisted var completed: Bool
    @Persisted var progressMinutes: Int
  }

  class Team: Object {
    @Persisted(primaryKey: true) var id: ObjectId
    @Persisted var teamName: String
    @Persisted var tasks: List<Task>
    @Persisted var members: List<String>
  }

  static let definition = """
    development: true
    fields:
      Task: [assignee, completed, progressMinutes]
      Team: [teamName]

    """
}

/// The code of the guide, in the final interface.
extension Board {
  static func add(_ realm: Realm) {
    let subscriptions = realm.subscriptions
    if subscriptions.count == 0 {
      subscriptions.update {
        subscriptions.append(
          QuerySubscription<Team> {
            $0.teamName == "Developer Education"
          })
        subscriptions.append(
          QuerySubscription<Task>(name: "long-running-completed") {
            $0.completed == true && $0.progressMinutes > 120
          })
      }
    }
  }

  static func updateQuery(_ realm: Realm) {
    let subscriptions = realm.subscriptions
    let subscription = subscriptions.first(
      ofType: Team.self, where: { $0.teamName == "Developer Education" })
    if let subscription {
      subscriptions.update {
        subscription.updateQuery(toType: Team.self, where: { $0.teamName == "Documentation" })
      }
    }
  }

  static func removeOne(_ realm: Realm) {
    let subscriptions = realm.subscriptions
    if let subscription = subscriptions.first(named: "long-running-completed") {
      subscriptions.update { subscriptions.remove(subscription) }
    }
  }

  static func removeAll(_ realm: Realm) {
    let subscriptions = realm.subscriptions
    subscriptions.update { subscriptions.removeAll(ofType: Team.self) }
  }
}

/// The code of the guide as it is written, except mistakes in its names. Calls through this protocol to former names
/// make no warnings of the compiler.
private protocol GuideAsWritten {
  func add(_ realm: Realm)
  func watch(_ realm: Realm) -> [SyncSubscriptionState]
  func update(_ realm: Realm)
  func removeOne(_ realm: Realm)
  func removeAll(_ realm: Realm)
}

extension Board {
  fileprivate struct Guide: GuideAsWritten {
    @available(*, deprecated)
    func add(_ realm: Realm) {
      let subscriptions = realm.subscriptions
      if subscriptions.isEmpty {
        try! subscriptions.write {
          subscriptions.append {
            QuerySubscription<Team> {
              $0.teamName == "Developer Education"
            }
          }
        }
      }
    }

    @available(*, deprecated)
    func watch(_ realm: Realm) -> [SyncSubscriptionState] {
      let subscriptions = realm.subscriptions
      try! subscriptions.write {
        subscriptions.remove {
          QuerySubscription<Task> {
            $0.assignee == "Joe Doe"
          }
        }
      }
      var states: [SyncSubscriptionState] = []
      for state in subscriptions.state {
        states.append(state)
      }
      return states
    }

    @available(*, deprecated)
    func update(_ realm: Realm) {
      let subscriptions = realm.subscriptions
      let query = { QuerySubscription<Team> { $0.teamName == "Developer Education" } }
      if let subscription = subscriptions.first(where: query) {
        try! subscriptions.write {
          subscription.update {
            QuerySubscription<Team>(name: "docs-team") {
              $0.teamName == "Documentation"
            }
          }
        }
      }
    }

    @available(*, deprecated)
    func removeOne(_ realm: Realm) {
      let subscriptions = realm.subscriptions
      if let subscription = subscriptions.first(where: {
        QuerySubscription<Team> { $0.teamName == "Documentation" }
      }) {
        try! subscriptions.write {
          subscriptions.remove(subscription)
        }
      }
    }

    @available(*, deprecated)
    func removeAll(_ realm: Realm) {
      let subscriptions = realm.subscriptions
      try! subscriptions.write {
        subscriptions.removeAll(ofType: Team.self)
      }
    }
  }
}

@Suite(.timeLimit(.minutes(3))) @MainActor struct SubscriptionSampleTests {
  /// Calls `body` with a device without subscriptions, of a server that has two teams and three tasks.
  private func withDevice(_ body: @MainActor (Realm) async throws -> Void) async throws {
    try await withWorld(Board.definition) { world in
      let users = try await world.users(2)
      var configuration = users[0].flexibleSyncConfiguration(
        initialSubscriptions: { subscriptions in
          subscriptions.append(QuerySubscription<Board.Team>())
          subscriptions.append(QuerySubscription<Board.Task>())
        })
      configuration.objectTypes = [Board.Task.self, Board.Team.self]
      let writer = try await opened(configuration, .once)
      try writer.write {
        for (minutes, isCompleted) in [(150, true), (10, true), (200, false)] {
          writer.create(
            Board.Task.self,
            value: [
              "taskName": "\(minutes)", "assignee": "Joe Doe", "completed": isCompleted,
              "progressMinutes": minutes,
            ] as [String: Any])
        }
        for name in ["Developer Education", "Documentation"] {
          writer.create(Board.Team.self, value: ["teamName": name])
        }
      }
      try await writer.upload()
      var own = users[1].flexibleSyncConfiguration()
      own.objectTypes = [Board.Task.self, Board.Team.self]
      try await body(try await opened(own, .once))
    }
  }

  private func teams(_ realm: Realm) -> [String] {
    realm.objects(Board.Team.self).map(\.teamName).sorted()
  }

  private func tasks(_ realm: Realm) -> [String] {
    realm.objects(Board.Task.self).map(\.taskName).sorted()
  }

  @Test func `subscriptions are added, updated and removed`() async throws {
    try await withDevice { realm in
      Board.add(realm)
      Board.add(realm)
      #expect(realm.subscriptions.count == 2)
      try await eventually(in: realm) { realm.subscriptions.state == .complete }
      #expect(teams(realm) == ["Developer Education"] && tasks(realm) == ["150"])
      Board.updateQuery(realm)
      #expect(realm.subscriptions.count == 2)
      try await eventually(in: realm) { realm.subscriptions.state == .complete }
      #expect(teams(realm) == ["Documentation"] && tasks(realm) == ["150"])
      Board.removeOne(realm)
      try await eventually(in: realm) { tasks(realm).isEmpty }
      #expect(realm.subscriptions.count == 1 && teams(realm) == ["Documentation"])
      Board.removeAll(realm)
      try await eventually(in: realm) { teams(realm).isEmpty }
      #expect(realm.subscriptions.count == 0)
    }
  }

  @Test func `the code of the guide works as it is written`() async throws {
    try await withDevice { realm in
      let guide: any GuideAsWritten = Board.Guide()
      guide.add(realm)
      #expect(realm.subscriptions.count == 1)
      try await eventually(in: realm) { realm.subscriptions.state == .complete }
      #expect(teams(realm) == ["Developer Education"])
      let states = guide.watch(realm)
      #expect(states.last == .complete, "\(states)")
      guide.update(realm)
      #expect(realm.subscriptions.first(named: "docs-team") != nil)
      try await eventually(in: realm) { realm.subscriptions.state == .complete }
      #expect(teams(realm) == ["Documentation"])
      guide.removeOne(realm)
      #expect(realm.subscriptions.isEmpty)
      try await eventually(in: realm) { teams(realm).isEmpty }
      guide.add(realm)
      try await eventually(in: realm) { teams(realm) == ["Developer Education"] }
      guide.removeAll(realm)
      try await eventually(in: realm) { teams(realm).isEmpty }
    }
  }
}
