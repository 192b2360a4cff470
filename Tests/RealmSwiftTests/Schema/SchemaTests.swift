import Foundation
import RealmSwift
import Testing

@Suite struct SchemaTests {
  @Test("A realm describes its classes, and an object describes its own")
  func schema() throws {
    let realm = try memoryRealm([ClassTests.Film.self, ClassTests.Remake.self])
    #expect(realm.schema.objectSchema.map(\.className) == ["Movie", "Remake"])
    let film = try #require(realm.schema["Movie"])
    #expect(film.properties.map(\.name) == ["id", "title", "sequel", "tags"] && realm.schema["Film"] == nil)
    #expect(
      film.primaryKeyProperty?.columnName == "_id" && film["id"]?.isIndexed == true && film["none"] == nil)
    #expect(
      film["title"]?.type == .string && film["title"]?.isIndexed == true && film["title"]?.isOptional == false
    )
    #expect(film["sequel"]?.objectClassName == "Movie" && film["sequel"]?.type == .object)
    #expect(
      film["sequel"]?.isOptional == true && film["tags"]?.isArray == true && film["tags"]?.isIndexed == false)
    #expect(film.objectClass == ClassTests.Film.self && !film.isEmbedded && !film.isAsymmetric)
    #expect(
      ClassTests.Film().objectSchema == film && ClassTests.Remake().objectSchema != film
        && realm.schema == realm.schema)
    #expect(Everything().objectSchema.properties.filter { !$0.isArray }.count == 31)
    #expect(Everything().objectSchema["optionalDecimal"]?.type == .decimal128)
    #expect(
      film.description.hasPrefix(
        "Movie {\n\tprimaryKeyProperty = id;\n\tid {\n\t\ttype = int;\n\t\tcolumnName = _id;"))
    #expect(
      realm.schema.description.contains("\tRemake {") && film["tags"]?.isSet == false
        && film["id"]?.isMap == false)
  }

  @Test func `schemas describe classes and properties`() throws {
    let realm = try memoryRealm([Dog.self, Person.self])
    let schema: Schema = realm.schema
    let dog: ObjectSchema = try #require(schema["Dog"])
    let type: PropertyType? = dog["name"]?.type
    #expect(type == .string && dog["none"] == nil && PropertyType.linkingObjects.rawValue == 8)
  }
}
