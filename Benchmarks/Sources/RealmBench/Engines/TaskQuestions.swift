/// Questions about Tasks along links. The Tasks are in the file of the Persons who own them.
protocol TaskQuestions {
  /// Adds Tasks in one durable transaction to a file that has Persons and no Tasks.
  func insertTasks(_ tasks: TaskSource) throws
  /// Reads the name of the owner of each Task.
  func readOwnerNames() throws -> Answer
  /// The sum of the numbers of Tasks of these Persons, who are given by their ids.
  func countTasks(of owners: [Int64]) throws -> Int
  /// Counts Tasks by the age of their owner.
  func countTasks(ofOwnersOlderThan age: Int64) throws -> Int
}
