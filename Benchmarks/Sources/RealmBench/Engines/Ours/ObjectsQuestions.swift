import RealmSwift

extension ObjectsEngine: Questions {
  private func people() throws -> Results<PersonObject> { try realm().objects(PersonObject.self) }

  func countAll() throws -> Int { try people().count }

  func countActive(olderThan age: Int64) throws -> Int {
    try people().where { $0.age > age && $0.active == true }.count
  }

  func count(email: String) throws -> Int { try people().where { $0.email == email }.count }

  func count(nameContaining part: String, ignoringCase: Bool) throws -> Int {
    try people().where { $0.name.contains(part, options: ignoringCase ? [.caseInsensitive] : []) }.count
  }

  func count(ids: [Int64]) throws -> Int { try people().where { $0.id.in(ids) }.count }
  func count(ages: [Int64]) throws -> Int { try people().where { $0.age.in(ages) }.count }

  /// Results have no limit, so both variants ask for all.
  func firstByAgeAndName(asksForAll: Bool) throws -> Answer {
    let sorted = try people().sorted(by: [SortDescriptor(keyPath: "age"), SortDescriptor(keyPath: "name")])
    var first = FirstByAgeAndName()
    for person in sorted.prefix(FirstByAgeAndName.count) { first.add(age: person.age, person.name) }
    return first.answer
  }

  func firstActive() throws -> Int64? { try people().where { $0.active == true }.first.map { Int64($0.id) } }

  func firstByCity() throws -> Answer? {
    let sorted = try people().sorted(by: \.city)
    var answer = Answer()
    for place in 0..<100 { answer.add(sorted[place].city) }
    return answer
  }

  func sumAndAverage() throws -> (scores: Double, age: Double) {
    let people = try people()
    guard let average: Double = people.average(ofProperty: "age") else {
      throw BenchmarkError("no ages to average")
    }
    return (people.sum(of: \.score), average)
  }

  func raiseScores() throws {
    let realm = try realm()
    try realm.write { for person in realm.objects(PersonObject.self) { person.score += 1 } }
  }

  func deleteInactive() throws {
    let realm = try realm()
    try realm.write { realm.delete(realm.objects(PersonObject.self).where { $0.active == false }) }
  }
}
