// Refused: User.mongoClient is not there yet. Open a synced realm | FindOptions is not there yet.
import Foundation
import RealmSwift

func snippet(_ user: User) async throws -> Int {
  let people = user.mongoClient("mongodb-atlas").database(named: "town").collection(withName: "Person")
  people.insertOne(["name": "Ada"]) { result in
    if case .failure(let error) = result { print(error) }
  }
  return try await people.find(filter: ["name": "Ada"], options: FindOptions(10)).count
}
