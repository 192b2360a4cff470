import RealmStorage
import RealmSync
import RealmSyncClient
import RealmSyncSupport
import Testing

/// Resets that begin again before the first reset is carried out.
@Suite struct ResetRuleTests {
  @Test func `a second reset still knows which changesets the first reset had integrated`() throws {
    let file = try DrivenFile(changes: 3)
    let sent = try file.begin().uploads
    #expect(sent.map(\.sequence) == [1, 2, 3])
    let refusal = Refusal(subject: .object(ObjectName(ModelClass.name, .int(1))), reason: .notPermitted)
    var first = DrivenFile.reset(isInDoubt: false)
    first.integrated = [NamedChangeset(sequence: 1, hash: sent[0].hash)]
    first.refusals = [refusal]
    #expect(try file.receive(DrivenFile.welcome(.reset(first))).start?.version == 9)
    // The server has lost the replica 8. The start of that replica named no changeset, so this reset can't name one.
    let second = Welcome.Reset(registered: DrivenFile.registered(9, version: 12), isInDoubt: true)
    let welcome = try file.receive(DrivenFile.welcome(.reset(second)))
    #expect(welcome.first == .willReset(isInDoubt: true))
    #expect(welcome.start?.version == 12 && welcome.start?.pending == [])
    var step = try file.resetStep()
    (step.from, step.to) = (12, 13)
    let actions = try file.receive(.step(step))
    #expect(actions.first == .didReset(isRecovered: true) && actions.contains(.refused))
    #expect(try file.reading { $0.number } == 9)
    // The server has already counted the changeset 1, so the file does not send it again.
    #expect(try file.pending().keys.sorted() == [2, 3])
    #expect(try file.texts().keys.sorted() == [2, 3, 100])
    file.time += 100
    let uploads = actions.uploads + file.upload().uploads
    #expect(uploads.map(\.sequence) == [1, 2])
    let names = [2, 3].map { ObjectName(ModelClass.name, .int($0)) }
    #expect(uploads.flatMap(\.changeset.objects).map(\.id) == names)
    let refusals = try file.reading { try $0.refusals().map(\.refusal) }
    #expect(refusals == [refusal])
  }
}
