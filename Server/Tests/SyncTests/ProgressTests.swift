import Foundation
import RealmSwift
import Testing

/// The former names of progress. Calls through this protocol make no warnings of the compiler.
private protocol FormerFigures {
  func bytes(_ progress: SyncSession.Progress) -> (transferred: Int, transferrable: Int)
  func fraction(_ progress: SyncSession.Progress) -> Double
}

private struct ProgressFigures: FormerFigures {
  @available(*, deprecated)
  func bytes(_ progress: SyncSession.Progress) -> (transferred: Int, transferrable: Int) {
    (progress.transferredBytes, progress.transferrableBytes)
  }

  @available(*, deprecated)
  func fraction(_ progress: SyncSession.Progress) -> Double { progress.fractionTransferred }
}

@Suite(.timeLimit(.minutes(3))) @MainActor struct ProgressTests {
  /// Writes notes, each in its own transaction.
  private func write(_ ids: ClosedRange<Int>, of bytes: Int, _ realm: Realm) throws {
    for id in ids { try realm.write { realm.add(Note(id, noise(bytes))) } }
  }

  // MARK: - Uploads

  @Test func `outstanding uploads are reported until the server has them, and never again`() async throws {
    try await withWorld { world in
      let user = try await world.user()
      let realm = try await opened(user.notes(), .once)
      let session = try realm.sync()
      session.suspend()
      try write(1...30, of: 10_000, realm)
      let told = Calls<SyncSession.Progress>()
      let token = session.addProgressNotification(for: .upload, mode: .forCurrentlyOutstandingWork) {
        told.add($0)
      }
      #expect(token != nil)
      session.resume()
      try await eventually { told.all.last?.isTransferComplete == true }
      let estimates = told.all.map(\.progressEstimate)
      #expect(rises(estimates) && estimates.count > 1, "\(estimates)")
      #expect(told.all.allSatisfy { $0.isTransferComplete == ($0.progressEstimate == 1) })
      try write(31...31, of: 10, realm)
      try await realm.upload()
      try await Task.sleep(for: .milliseconds(50))
      #expect(told.count == estimates.count)
      withExtendedLifetime(token) {}
    }
  }

  @Test func `later work does not count for a block that follows outstanding work`() async throws {
    try await withWorld { world in
      let user = try await world.user()
      let realm = try await opened(user.notes(), .once)
      let session = try realm.sync()
      session.suspend()
      try write(1...5, of: 1000, realm)
      let told = Calls<Double>()
      let token = session.addProgressNotification(for: .upload, mode: .forCurrentlyOutstandingWork) {
        told.add($0.progressEstimate)
      }
      // The block has counted the outstanding work.
      _ = try await told.first()
      try write(6...40, of: 10_000, realm)
      session.resume()
      try await eventually { told.all.last == 1 }
      #expect(rises(told.all) && told.count <= 8, "\(told.all)")
      withExtendedLifetime(token) {}
    }
  }

  @Test func `if there is nothing to do, it is reported once`() async throws {
    try await withWorld { world in
      let user = try await world.user()
      let realm = try await opened(user.notes(), .once)
      try realm.write { realm.add(Note(1)) }
      try await realm.upload()
      let session = try realm.sync()
      for direction in [SyncSession.ProgressDirection.upload, .download] {
        let (streaming, told) = (Calls<Double>(), Calls<Double>())
        let kept = session.addProgressNotification(for: direction, mode: .reportIndefinitely) {
          streaming.add($0.progressEstimate)
        }
        #expect(kept != nil)
        #expect(try await streaming.first() == 1, "\(direction)")
        let token = session.addProgressNotification(for: direction, mode: .forCurrentlyOutstandingWork) {
          told.add($0.progressEstimate)
        }
        #expect(token == nil, "\(direction)")
        #expect(try await told.first() == 1, "\(direction)")
        withExtendedLifetime(kept) {}
      }
    }
  }

  @Test func `a block that follows uploads indefinitely gets new reports for new work`() async throws {
    try await withWorld { world in
      let user = try await world.user()
      let realm = try await opened(user.notes(), .once)
      let session = try realm.sync()
      let told = Calls<SyncSession.Progress>()
      let token = session.addProgressNotification(for: .upload, mode: .reportIndefinitely) { told.add($0) }
      _ = try await told.first()
      for round in 1...3 {
        let before = told.count
        session.suspend()
        try write((round * 10)...(round * 10 + 9), of: 5000, realm)
        session.resume()
        try await realm.upload()
        try await eventually { told.count > before && told.all.last?.isTransferComplete == true }
        #expect(told.all[before].progressEstimate < 1)
      }
      let estimates = told.all.map(\.progressEstimate)
      #expect(rises(estimates), "\(estimates)")
      let former: any FormerFigures = ProgressFigures()
      for progress in told.all {
        let bytes = former.bytes(progress)
        #expect(bytes.transferred >= 0 && bytes.transferred <= bytes.transferrable)
        #expect(former.fraction(progress) == progress.progressEstimate)
      }
      let last = try #require(told.all.last)
      #expect(former.bytes(last).transferred > 30 * 3000)
      withExtendedLifetime(token) {}
    }
  }

  // MARK: - Downloads

  @Test(arguments: [true, false])
  func `a long download is reported in many steps, and is complete only when all can be read`(
    _ isFlexible: Bool
  ) async throws {
    try await withWorld("development: true\npartition: area\n") { world in
      let users = try await world.users(2)
      func configuration(_ user: User) -> Realm.Configuration {
        var configuration = isFlexible ? user.notes() : user.configuration(partitionValue: "north")
        configuration.objectTypes = [Note.self]
        return configuration
      }
      do {
        let writer = try opened(configuration(users[0]))
        try write(1...35, of: 100_000, writer)
        try await writer.upload()
      }
      let reading = configuration(users[1])
      let realm = try opened(reading)
      let session = try realm.sync()
      session.suspend()
      let (told, counts) = (Calls<Double>(), Calls<Int>())
      let token = session.addProgressNotification(for: .download, mode: .forCurrentlyOutstandingWork) {
        told.add($0.progressEstimate)
        guard $0.isTransferComplete else { return }
        counts.add((try? Realm(configuration: reading).objects(Note.self).count) ?? -1)
      }
      session.resume()
      #expect(try await counts.first() == 35)
      #expect(rises(told.all) && told.count > 10, "\(told.all)")
      #expect(told.all.last == 1 && told.all.count { $0 == 1 } == 1)
      withExtendedLifetime((realm, token)) {}
    }
  }

  @Test func `a block that follows downloads indefinitely hears of each change of others`() async throws {
    try await withWorld { world in
      let users = try await world.users(2)
      let (one, two) = (
        try await opened(users[0].notes(), .once), try await opened(users[1].notes(), .once)
      )
      let (forever, once) = (Calls<Double>(), Calls<Double>())
      let session = try two.sync()
      let kept = session.addProgressNotification(for: .download, mode: .reportIndefinitely) {
        forever.add($0.progressEstimate)
      }
      let short = session.addProgressNotification(for: .download, mode: .forCurrentlyOutstandingWork) {
        once.add($0.progressEstimate)
      }
      try await eventually { forever.all.last == 1 && once.all.last == 1 }
      let onces = once.count
      for id in 1...3 {
        let before = forever.count
        try one.write { one.add(Note(id, noise(50_000))) }
        try await one.upload()
        try await two.download()
        try await eventually { forever.count > before && forever.all.last == 1 }
      }
      #expect(rises(forever.all), "\(forever.all)")
      #expect(once.count == onces)
      withExtendedLifetime((kept, short)) {}
    }
  }

  // MARK: - Tokens

  @Test func `nothing is reported after a token has ended or was released`() async throws {
    try await withWorld { world in
      let user = try await world.user()
      let realm = try await opened(user.notes(), .once)
      let session = try realm.sync()
      let (ended, dropped, kept) = (Calls<Double>(), Calls<Double>(), Calls<Double>())
      func follow(_ calls: Calls<Double>) -> SyncSession.ProgressNotificationToken? {
        session.addProgressNotification(for: .upload, mode: .reportIndefinitely) {
          calls.add($0.progressEstimate)
        }
      }
      let (first, last) = (follow(ended), follow(kept))
      do {
        let token = follow(dropped)
        for calls in [ended, dropped, kept] { _ = try await calls.first() }
        withExtendedLifetime(token) {}
      }
      first?.invalidate()
      let counts = (ended.count, dropped.count)
      try write(1...10, of: 1000, realm)
      try await realm.upload()
      try await eventually { kept.count > 1 && kept.all.last == 1 }
      // One call may have been under way.
      #expect(ended.count <= counts.0 + 1 && dropped.count <= counts.1 + 1)
      withExtendedLifetime(last) {}
    }
  }
}
