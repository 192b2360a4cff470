extension SQLiteEngine: Questions {
  func countAll() throws -> Int { try count("SELECT count(*) FROM Person") { _ in } }

  func countActive(olderThan age: Int64) throws -> Int {
    try count("SELECT count(*) FROM Person WHERE age > ?1 AND active") { $0.bind(1, age) }
  }

  func count(email: String) throws -> Int {
    try count("SELECT count(*) FROM Person WHERE email = ?1", email)
  }

  /// LIKE makes no difference between A to Z and a to z.
  func count(nameContaining part: String, ignoringCase: Bool) throws -> Int {
    ignoringCase
      ? try count("SELECT count(*) FROM Person WHERE name LIKE ?1", "%\(part)%")
      : try count("SELECT count(*) FROM Person WHERE instr(name, ?1) > 0", part)
  }

  func count(ids: [Int64]) throws -> Int {
    try count("SELECT count(*) FROM Person WHERE id IN (SELECT value FROM json_each(?1))", "\(ids)")
  }

  func count(ages: [Int64]) throws -> Int {
    try count("SELECT count(*) FROM Person WHERE age IN (SELECT value FROM json_each(?1))", "\(ages)")
  }

  private func count(_ text: String, _ bind: (SQLiteStatement) throws -> Void) throws -> Int {
    try reading {
      let select = try connection.prepare(text)
      try bind(select)
      guard try select.step() else { throw BenchmarkError("a count without a row") }
      return Int(select.integer(0))
    }
  }

  private func count(_ text: String, _ parameter: String) throws -> Int {
    var parameter = parameter
    return try parameter.withUTF8 { parameter in
      try reading {
        let select = try connection.prepare(text)
        select.bind(1, parameter)
        guard try select.step() else { throw BenchmarkError("a count without a row") }
        return Int(select.integer(0))
      }
    }
  }

  func firstByAgeAndName(asksForAll: Bool) throws -> Answer {
    try reading {
      let limit = asksForAll ? "" : " LIMIT \(FirstByAgeAndName.count)"
      let select = try connection.prepare("SELECT age, name FROM Person ORDER BY age, name" + limit)
      var first = FirstByAgeAndName()
      for _ in 0..<FirstByAgeAndName.count where try select.step() {
        first.add(age: select.integer(0), select.text(1))
      }
      return first.answer
    }
  }

  func firstActive() throws -> Int64? {
    try reading {
      let select = try connection.prepare("SELECT id FROM Person WHERE active LIMIT 1")
      guard try select.step() else { throw BenchmarkError("nobody is active") }
      return select.integer(0)
    }
  }

  func firstByCity() throws -> Answer? {
    try reading {
      let select = try connection.prepare("SELECT city FROM Person ORDER BY city LIMIT 100")
      var answer = Answer()
      while try select.step() { answer.add(select.text(0)) }
      return answer
    }
  }

  func sumAndAverage() throws -> (scores: Double, age: Double) {
    try reading {
      let select = try connection.prepare("SELECT sum(score), avg(age) FROM Person")
      guard try select.step() else { throw BenchmarkError("a sum without a row") }
      return (select.double(0), select.double(1))
    }
  }

  func raiseScores() throws { try connection.execute("UPDATE Person SET score = score + 1") }
  func deleteInactive() throws { try connection.execute("DELETE FROM Person WHERE NOT active") }
}
