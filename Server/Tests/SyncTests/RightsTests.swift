import Foundation
import RealmSwift
import Service
import Testing

/// The objects that users may see and change. `ErrorTests` tests other reports of refusals.
@Suite(.timeLimit(.minutes(3))) @MainActor struct RightsTests {
  /// Rights with which guides see and write all notes, and other users none.
  private static let guides = """
    rights:
      Note:
        read: "'guide' IN $user.roles"
        write: "'guide' IN $user.roles"

    """

  /// Rights with which each user sees and writes only the user's own notes.
  private static let owned = """
    fields:
      Note: [owner]
    rights:
      Note:
        read: owner == $user.id
        write: owner == $user.id

    """

  /// Rights with which each user sees only the user's own notes, and may give them away.
  private static let given = """
    fields:
      Note: [owner]
    rights:
      Note:
        read: owner == $user.id
        write: true

    """

  /// Rights with which users see the trails of the regions in their custom data.
  private static let regions = """
    fields:
      Trail: [region]
    rights:
      Trail:
        read: region IN $user.custom_data.regions
        write: "'guide' IN $user.roles OR region IN $user.custom_data.regions"
      Hut:
        read: true
        write: false

    """

  /// Rights with which all users see small huts, and guides see all huts.
  private static let cabins = """
    fields:
      Hut: [beds]
    rights:
      Trail:
        read: true
        write: true
      Hut:
        read: beds < 10 OR 'guide' IN $user.roles
        write: true

    """

  private func setRoles(_ roles: [String], of user: User, _ world: SyncWorld) async throws {
    try await world.administer(.roles(app: world.id(of: SyncWorld.main), user: user.id, roles))
  }

  private func setRegions(_ regions: [String], of user: User, _ world: SyncWorld) async throws {
    let list = regions.map { "\"\($0)\"" }.joined(separator: ",")
    let json = "{\"regions\":[\(list)]}"
    try await world.administer(.customData(app: world.id(of: SyncWorld.main), user: user.id, json))
  }

  /// The errors that the error handler of the app gets.
  private func errors(_ world: SyncWorld) -> Calls<any Error> {
    let errors = Calls<any Error>()
    world.app().syncManager.errorHandler = { error, _ in errors.add(error) }
    return errors
  }

  /// The first refusal that was reported.
  private func refusal(_ errors: Calls<any Error>) async throws -> CompensatingWriteInfo {
    let first = try await errors.first()
    let error = try #require(first as? SyncError)
    #expect(error.code == .writeRejected)
    let infos = try #require(error.compensatingWriteInfo)
    #expect(infos.count == 1)
    return try #require(infos.first)
  }

  // MARK: - Roles

  @Test func `a role without access sees nothing, and its changes are undone`() async throws {
    try await withWorld(Self.guides) { world in
      let users = try await world.users(2)
      try await setRoles(["guide"], of: users[0], world)
      let guide = try await opened(users[0].notes(), .once)
      try guide.write { guide.add(Note(1, "seen by guides")) }
      try await guide.upload()
      let told = errors(world)
      let realm = try await opened(users[1].notes(), .once)
      #expect(realm.noteIDs.isEmpty && realm.subscriptions.state == .complete)
      try guide.write { guide.note(1)?.text = "changed" }
      try await guide.upload()
      try await realm.download()
      #expect(realm.noteIDs.isEmpty)
      try realm.write { realm.add(Note(2)) }
      #expect(realm.noteIDs == [2])
      let info = try await refusal(told)
      realm.refresh()
      #expect(realm.noteIDs.isEmpty)
      #expect(info.objectType == "Note" && info.primaryKey == .int(2))
      #expect(info.reason.contains("may not write"))
      try await guide.download()
      #expect(guide.noteIDs == [1])
      #expect(try realm.sync().state == .active)
    }
  }

  @Test func `a class without rights is refused to all users`() async throws {
    try await withWorld(Self.owned) { world in
      let user = try await world.user()
      let told = errors(world)
      let realm = try await user.allTrails()
      try realm.write { realm.add(Hut("Lodge")) }
      let info = try await refusal(told)
      #expect(info.objectType == "Hut" && info.primaryKey == .string("Lodge"))
      realm.refresh()
      #expect(realm.objects(Hut.self).isEmpty)
    }
  }

  // MARK: - The view

  @Test func `an object outside of its writer's queries is undone, with its class, its key and the reason`()
    async throws
  {
    try await withTrails { world, user, others in
      let told = errors(world)
      let realm = try await user.alpineTrails()
      try realm.write {
        realm.add(Trail(7, "Alps"))
        realm.add(Trail(8, "Andes"))
      }
      #expect(realm.trailIDs == [1, 2, 7, 8])
      let info = try await refusal(told)
      #expect(info.objectType == "Trail" && info.primaryKey == .int(8))
      #expect(info.reason.contains("no subscription would show it"))
      // The error is reported after the undo, which concerns no other object of the transaction.
      realm.refresh()
      #expect(realm.trailIDs == [1, 2, 7])
      try await others.download()
      #expect(others.trailIDs == [1, 2, 3, 7])
      #expect(told.count == 1)
    }
  }

  @Test func `a key that an unseen object has is refused, and nothing of that object is shown`() async throws
  {
    try await withWorld(Self.owned) { world in
      let users = try await world.users(2)
      let told = errors(world)
      let theirs = try await opened(users[1].notes(), .once)
      try theirs.write { theirs.add(Note(1, "theirs", owner: users[1].id)) }
      try await theirs.upload()
      let realm = try await opened(users[0].notes(), .once)
      try realm.write { realm.add(Note(1, "mine", owner: users[0].id)) }
      let info = try await refusal(told)
      #expect(info.objectType == "Note" && info.primaryKey == .int(1))
      #expect(info.reason.contains("primary key"))
      realm.refresh()
      #expect(realm.noteIDs.isEmpty)
      try await theirs.download()
      #expect(theirs.note(1)?.text == "theirs")
    }
  }

  @Test func `an object that is given away leaves its former owner, and comes to the new one`() async throws {
    try await withWorld(Self.given) { world in
      let users = try await world.users(2)
      let told = errors(world)
      let first = try await opened(users[0].notes(), .once)
      let second = try await opened(users[1].notes(), .once)
      try first.write { for id in 1...2 { first.add(Note(id, "text \(id)", owner: users[0].id)) } }
      try await first.upload()
      try await second.download()
      #expect(second.noteIDs.isEmpty)
      let note = try #require(first.note(1))
      try first.write { note.owner = users[1].id }
      try await eventually(in: first) { first.noteIDs == [2] }
      #expect(note.isInvalidated)
      try await eventually(in: second) { second.noteIDs == [1] }
      #expect(second.note(1)?.text == "text 1")
      #expect(told.count == 0)
    }
  }

  // MARK: - Custom data

  @Test
  func `users see the objects that their custom data allow, and new data count from the next connection`()
    async throws
  {
    try await withWorld(Self.regions) { world in
      let users = try await world.users(2)
      try await setRegions(["Alps", "Andes"], of: users[0], world)
      try await setRegions(["Alps"], of: users[1], world)
      let guide = try await users[0].allTrails()
      try await guide.addTrails([Trail(1, "Alps"), Trail(2, "Alps"), Trail(3, "Andes")])
      let told = errors(world)
      let realm = try await users[1].allTrails()
      #expect(realm.trailIDs == [1, 2])
      try realm.write { realm.trail(1)?.name = "Old Road" }
      try await realm.upload()
      try await eventually(in: guide) { guide.trail(1)?.name == "Old Road" }
      try await setRegions(["Andes"], of: users[1], world)
      // Changed headers make a new connection.
      world.app().syncManager.customRequestHeaders = ["X-Test": "1"]
      try await eventually(in: realm) { realm.trailIDs == [3] }
      try await setRegions([], of: users[1], world)
      world.app().syncManager.customRequestHeaders = ["X-Test": "2"]
      try await eventually(in: realm) { realm.trailIDs.isEmpty }
      #expect(told.count == 0)
      try await guide.download()
      #expect(guide.trailIDs == [1, 2, 3])
    }
  }

  // MARK: - Nothing leaks

  /// True if any file of a folder, or of a folder in it, contains a text.
  private func holds(_ folder: URL, _ text: String) throws -> Bool {
    let (files, bytes) = (FileManager.default, Data(text.utf8))
    for name in try files.subpathsOfDirectory(atPath: folder.path) {
      let path = folder.appendingPathComponent(name)
      // A file that is not a plain file may block its readers.
      let type = try? files.attributesOfItem(atPath: path.path)[.type] as? FileAttributeType
      guard type == .typeRegular else { continue }
      if let data = try? Data(contentsOf: path), data.range(of: bytes) != nil { return true }
    }
    return false
  }

  @Test func `no byte of an object that a user may not see gets into the user's files`() async throws {
    try await withWorld(Self.owned) { world in
      let users = try await world.users(2)
      let (own, canary) = ("own \(UUID().uuidString)", "canary \(UUID().uuidString)")
      let configuration = users[0].notes()
      let folder = try #require(configuration.fileURL).deletingLastPathComponent()
      let realm = try await opened(configuration, .once)
      let theirs = try await opened(users[1].notes(), .once)
      try theirs.write { for id in 1...5 { theirs.add(Note(id, canary, owner: users[1].id)) } }
      try await theirs.upload()
      try realm.write { realm.add(Note(10, own, owner: users[0].id)) }
      try await realm.upload()
      // Objects are changed and deleted while another user is connected, and while not.
      try theirs.write {
        theirs.note(1)?.text = canary + " again"
        if let gone = theirs.note(2) { theirs.delete(gone) }
      }
      try await theirs.upload()
      try await realm.download()
      try realm.sync().suspend()
      try theirs.write {
        theirs.note(3)?.text = canary + " again"
        if let gone = theirs.note(4) { theirs.delete(gone) }
      }
      try await theirs.upload()
      try realm.sync().resume()
      try await realm.download()
      #expect(realm.noteIDs == [10])
      #expect(try holds(folder, own))
      #expect(try !holds(folder, canary))
      // Another device of the same user begins with all objects that the user may see.
      let other = try await opened(users[0].notes(at: folder.appendingPathComponent("other.realm")), .always)
      #expect(other.noteIDs == [10])
      #expect(try !holds(folder, canary))
    }
  }

  @Test func `no byte of a key that a user may not see gets into the user's files`() async throws {
    try await withWorld(Self.cabins) { world in
      let users = try await world.users(2)
      try await setRoles(["guide"], of: users[1], world)
      let canary = "canary \(UUID().uuidString)"
      let theirs = try await users[1].allTrails()
      try theirs.write {
        theirs.add(Hut("Cabin", beds: 4))
        for number in 1...3 { theirs.add(Hut("\(canary) \(number)", beds: 20)) }
      }
      try await theirs.upload()
      let folder = try #require(users[0].trails().fileURL).deletingLastPathComponent()
      let realm = try await users[0].allTrails()
      #expect(Array(realm.objects(Hut.self).map(\.id)) == ["Cabin"])
      try theirs.write {
        for hut in theirs.objects(Hut.self) where hut.id.hasSuffix("1") { hut.beds = 30 }
        if let gone = theirs.objects(Hut.self).first(where: { $0.id.hasSuffix("2") }) { theirs.delete(gone) }
      }
      try await theirs.upload()
      try await realm.download()
      #expect(realm.objects(Hut.self).count == 1)
      #expect(try holds(folder, "Cabin"))
      #expect(try !holds(folder, canary))
    }
  }

  @Test func `earlier values of an object are not sent to a user who may see it only now`() async throws {
    try await withWorld(Self.regions) { world in
      let users = try await world.users(2)
      try await setRegions(["Andes"], of: users[0], world)
      try await setRegions(["Alps", "Andes"], of: users[1], world)
      let canary = "canary \(UUID().uuidString)"
      let theirs = try await users[1].allTrails()
      try await theirs.addTrails([Trail(1, "Alps", name: canary), Trail(2, "Andes", name: "Royal Road")])
      let folder = try #require(users[0].trails().fileURL).deletingLastPathComponent()
      let realm = try await users[0].allTrails()
      #expect(realm.trailIDs == [2])
      try theirs.write {
        theirs.trail(1)?.name = "Inca Trail"
        theirs.trail(1)?.region = "Andes"
      }
      try await theirs.upload()
      try await eventually(in: realm) { realm.trailIDs == [1, 2] }
      #expect(realm.trail(1)?.name == "Inca Trail")
      #expect(try holds(folder, "Royal Road"))
      #expect(try !holds(folder, canary))
    }
  }
}
