import Foundation
import RealmSwift
import Testing

@Suite struct SchemaDifferenceTests: PetFileTests {
  @Test func `a difference that needs a migration is described, whatever the version`() throws {
    let file = TemporaryFile()
    try makePets(file)
    let before = try Data(contentsOf: file.url)
    #expect(refusal(file, PetWithoutAge.self).contains("property Pet.age: Int was removed\n"))
    #expect(refusal(file, PetWithKey.self).contains("property Pet.name became the primary key\n"))
    let message = refusal(file, PetWithOptionals.self)
    #expect(message.contains("property Pet.name changed from String to String?\n"))
    #expect(message.contains("property Pet.age changed from Int to String\n"))
    #expect(message.contains("schemaVersion") && message.contains("migrationBlock"))
    let keys = refusal(file, PetWithKey.self, version: 2)
    #expect(
      keys.contains("Pet.name is the primary key") && keys.contains("'pet 0', 'pet 1', 'pet 2'"), "\(keys)")
    #expect(try Data(contentsOf: file.url).count == before.count)
    try open(file, Pet1.self) { realm in #expect(realm.objects(Pet1.self).count == 1000) }
  }
}
