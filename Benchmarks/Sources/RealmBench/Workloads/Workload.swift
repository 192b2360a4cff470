/// What is measured. Numbers name the same workload in every report of this project.
enum Workload: String, CaseIterable {
  /// Inserts all Persons in one durable transaction into a new file. Making the Persons is not part of the time.
  /// Runs in a process of its own, which also tells how much anonymous memory it took at most.
  case bulkInsert = "1"
  /// Bytes of all of the engine's files for each Person, after the bulk insert and closing.
  case fileSize = "2"
  /// The same of a copy made as small as the engine can: VACUUM, MDB_CP_COMPACT. Where an engine can't, as it is.
  case compactedSize = "2c"
  /// A million lookups by primary key, at random, each reading name and age.
  case lookUp = "3"
  /// The same, where an engine can be asked for many at once.
  case lookUpTogether = "3b"
  /// Iterates all, reading name, age and score.
  case iterate = "4"
  /// As 4, each name as a String of its own: what programs read, where 4 looks at the bytes. Of objects and records that
  /// is 4.
  case iterateStrings = "4s"
  /// As 4, of a file that the page cache has nothing of, just opened.
  case iterateEvicted = "4d"
  /// Counts age == 42. Age is not indexed.
  case countAge = "5"
  /// Counts age > 50 && active. Neither is indexed.
  case countActive = "6"
  /// Counts email == X. Email is not indexed.
  case countEmail = "7"
  /// Counts names that contain 'River'.
  case countNames = "8"
  /// The same with A to Z taken for a to z.
  case countNamesIgnoringCase = "8b"
  /// Ten thousand counts of city == X. City is indexed.
  case countCities = "9"
  /// Sorts all by age and name, and reads the first 100.
  case sort = "10"
  /// The same with a limit of 100, where an engine takes one.
  case sortLimited = "10b"
  /// The sum of scores and the average of ages.
  case aggregate = "11"
  /// Finds an active Person, the first that is met; half of them are. A thousand times.
  case firstActive = "Q1"
  /// Reads the cities of the first 100 by city, which is indexed. A hundred times.
  case firstByCity = "Q9"
  /// Lists the Persons created in a range of an indexed date, 1,000 of them, and reads their names. A hundred times.
  case listRange = "Q2"
  /// The same range as two comparisons that are joined.
  case listRangeAsTwo = "Q2a"
  /// Lists the Persons whose indexed name begins with a text, 200 of them, and reads their ages. A hundred times.
  case listPrefix = "Q3"
  /// Lists the Persons of an indexed age, a hundredth of all, and reads nothing of them. A hundred times.
  case listOneIndex = "Q4s"
  /// Lists the Persons of an indexed age and a rank that is not indexed, and reads their ids. A hundred times.
  case listIndexAndTest = "Q4x"
  /// The same with a rank that is indexed: each condition alone holds of a hundredth of all.
  case listTwoIndexes = "Q4"
  /// Counts notes of which any tag is 'River': there are a fifth as many as Persons, each with a list of three.
  case countAnyTag = "Q5"
  /// Counts humans with at least two dogs older than 5; there are three tenths as many as Persons, with 0 to 4 dogs each.
  case countSubquery = "Q6"
  /// Counts titles, which are names, that contain 'River'.
  case countTitles = "Q7p"
  /// The same without regard to case and diacritics.
  case countTitlesFolded = "Q7"
  /// The same of titles of which a tenth have accents.
  case countAccentsFolded = "Q7u"
  /// Reads the text of ten conditions and makes it ready to be run.
  case prepareConditions = "Q11"
  /// 3, 4, 8 and 11 by two threads at once, each with all of it.
  case lookUpTwice = "3t"
  case iterateTwice = "4t"
  case countNamesTwice = "8t"
  case aggregateTwice = "11t"
  /// Small durable commits, each setting the score of one Person at random, on the file as the bulk insert left it.
  case update = "12"
  /// Small durable commits, each adding one Person.
  case insert = "12b"
  /// As 12, with commits that survive the death of the process: `.relaxed`, and SQLite's `synchronous=NORMAL`.
  case relaxedUpdate = "12n"
  /// As 12, after 100,000 updates at random in relaxed commits of 100: the file of a program that has run for long.
  case steadyUpdate = "12s"
  /// As 12b, on that file.
  case steadyInsert = "12bs"
  /// Small durable commits of 8 threads at once, each updating Persons at random; an engine that has no group commit
  /// has the changes that wait made in one transaction.
  case threads8 = "12g"
  /// The same with 32 threads.
  case threads32 = "12g32"
  /// Adds 1 to all scores in one durable transaction.
  case raiseScores = "13"
  /// Deletes the Persons who are not active, about half of them, in one durable transaction.
  case deleteInactive = "14"
  /// Opens the file, closed before, and counts what is left.
  case open = "15"
  /// The same after a process that committed was killed with the file open.
  case openAfterKill = "15k"
  /// As 15, a file of 1,000 Persons.
  case openSmall = "15s"
  /// Reads the name of the owner of each Task; there are a fifth as many as Persons.
  case ownerNames = "16"
  /// Counts the Tasks of each of some Persons, by id and at random.
  case backlinks = "17"
  /// Counts Tasks whose owner is older than 90.
  case countByOwner = "18"
  /// Size of all files with 100,000 records of 200 bytes, closed. Measured in the first round only, as are 20 and 20r:
  /// they do not vary.
  case freshFile = "20f"
  /// The same after 10,000 durable commits of one update each, while a reader goes on seeing what was before them.
  case pinnedReader = "20"
  /// The same after 100 more commits without the reader.
  case releasedReader = "20r"
  /// As 20, with ten readers that begin one after another while the commits go on.
  case pinnedReaders = "20b"
  /// Size of a file of 1,000 records of 700 bytes after as many commits, without a reader.
  case smallFile = "20k"
  /// 10,000 small durable commits of one process to a file of 1 GiB.
  case oneProcess = "20a"
  /// The same of two processes in turns, while a third one holds a reader of the file as it was.
  case processes = "20p"
  /// Counts Persons whose id, the primary key, is one of 10,000 values.
  case countIDs = "21a"
  /// Counts Persons whose age, not indexed, is one of 10,000 values.
  case countAges = "21b"
  /// What a commit of one update changed, asked by comparing the version before it with the one after it.
  case changeSet = "22"
  /// What a row costs in a table that grows to 10,000,000 rows with ascending primary keys, in durable commits of 10,000:
  /// of the first million, and of the tenth.
  case ascendingKeys = "F1"
  case ascendingKeysLater = "F1x"
  /// The same with random UUIDs.
  case uuidKeys = "F2"
  case uuidKeysLater = "F2x"
  /// What a row costs of 100,000, of 1,000,000 and of 10,000,000 in one durable transaction, with whole numbers at random
  /// as primary keys.
  case scrambledFew = "F3s"
  case scrambled = "F3"
  case scrambledMany = "F3x"
  /// The phases of redb's benchmark on one file of keys of 24 bytes and values of 150, in its order. A bulk load of
  /// 5,000,000 pairs in one durable transaction.
  case loadPairs = "K1"
  /// 1,000 durable commits of one pair each.
  case singlePairs = "K2"
  /// 100 durable commits of 1,000 pairs each.
  case pairBatches = "K3"
  /// 50,000 relaxed commits of one pair each; LMDB's do not keep its file sound through a loss of power.
  case relaxedPairs = "K4"
  /// 1,000,000 reads of values by keys at random.
  case readPairs = "K5"
  /// 500,000 reads of 10 pairs from a key at random on.
  case scanPairs = "K6"
  /// As K5, the reads shared out to 4 and to 32 threads.
  case readPairs4 = "K7"
  case readPairs32 = "K7b"
  /// Removes half of the pairs, in one durable transaction.
  case removePairs = "K8"
  /// Size of all files then; and compacted.
  case pairFile = "K9"
  case pairFileCompacted = "K9c"
  /// Relaxed commits, each setting the number of an owner at random, one of whom has a list of 1,000,000 whole numbers.
  case listOwnerUpdate = "C0"
  /// Relaxed commits, each adding an element behind the long list.
  case listAppend = "C1"
  /// The same, each inserting an element into it at random.
  case listInsert = "C2"
  /// The same, each removing an element of it at random.
  case listRemove = "C2r"
  /// C0 to C2r of a list of 1,000,000 links to objects.
  case linkOwnerUpdate = "C3u"
  case linkAppend = "C3"
  case linkInsert = "C3i"
  case linkRemove = "C3r"
  /// Reads elements of the long list of numbers at random.
  case listRead = "C4"
  /// Reads all its elements in order.
  case listIterate = "C5"
  /// Adds 1,000,000 numbers behind a list in one durable transaction: together, and one by one.
  case listAppendTogether = "C6"
  case listAppendEach = "C6e"
  /// Asks a set of 1,000,000 texts for texts that it has, and a map for the numbers of its keys.
  case setContains = "C7"
  case mapValue = "C7m"
  /// Removes the first element of the long list 100,000 times in one durable transaction.
  case listRemoveFirst = "C8"
  /// Inserts 100,000 objects with a list of three texts each in one durable transaction.
  case shortLists = "C9"
  /// Reads all their texts.
  case iterateShortLists = "C9i"
  /// Bytes of all files then, closed, for each of these objects.
  case shortListFile = "C9f"
  /// Deletes 1,000 objects that the long list of links holds, in one durable transaction: together, and one by one.
  case deleteListed = "C10"
  case deleteListedEach = "C10e"
  /// As 12b, with relaxed commits: without a recorder, and with one that keeps each change with what stood before it.
  case plainInsert = "D1p"
  case recordedInsert = "D1"
  /// As 1, in the process of the others: without a recorder, and with one.
  case plainBulkInsert = "D2p"
  case recordedBulkInsert = "D2"
  /// Finds the objects that differ between two versions of a file, 1,000 of all, with their values.
  case diffVersions = "D3"
  /// The same as changes of rows, which can be applied and undone.
  case rowChanges = "D3c"
  /// The same as objects and properties of a change feed, without the commit that moves its token.
  case feedChanges = "D5"
  /// Finds them between two files that were made apart, with the same Persons in the same order.
  case diffFiles = "D4"
  /// Compares two files that hold the same Persons, added in another order.
  case diffFilesInOtherOrder = "D4o"

  var title: String {
    switch self {
    case .bulkInsert: "bulk insert, one durable transaction"
    case .fileSize: "file after it"
    case .compactedSize: "file, compacted"
    case .lookUp: "1,000,000 primary-key lookups"
    case .lookUpTogether: "the same, asked for together"
    case .iterate: "iterate name, age, score"
    case .iterateStrings: "the same, names as Strings"
    case .iterateEvicted: "the same, evicted from the cache"
    case .countAge: "count age == 42, not indexed"
    case .countActive: "count age > 50 && active"
    case .countEmail: "count email == X, not indexed"
    case .countNames: "count name contains 'River'"
    case .countNamesIgnoringCase: "the same ignoring case"
    case .countCities: "10,000 counts city == X, indexed"
    case .sort: "sort by age and name, read 100"
    case .sortLimited: "the same with limit 100"
    case .aggregate: "sum of scores, average of ages"
    case .firstActive: "1,000 × a first active one"
    case .firstByCity: "100 × the first 100 by city, indexed"
    case .listRange: "100 × 1,000 in a range, indexed"
    case .listRangeAsTwo: "the same as two comparisons"
    case .listPrefix: "100 × 200 with a prefix, indexed"
    case .listOneIndex: "100 × 1 % by one index, keys only"
    case .listIndexAndTest: "100 × 1 % by one index, and a test"
    case .listTwoIndexes: "100 × two indexes, 1 % each"
    case .countAnyTag: "count ANY tags == 'River'"
    case .countSubquery: "count 2 dogs older than 5, or more"
    case .countTitles: "count title contains 'River'"
    case .countTitlesFolded: "the same with [cd]"
    case .countAccentsFolded: "the same, a tenth with accents"
    case .prepareConditions: "parse and bind ten conditions"
    case .lookUpTwice: "lookups in each of 2 threads"
    case .iterateTwice: "iterate in each of 2 threads"
    case .countNamesTwice: "count names in each of 2 threads"
    case .aggregateTwice: "sum, average in each of 2 threads"
    case .update: "durable update of one"
    case .insert: "durable insert of one"
    case .relaxedUpdate: "relaxed update of one"
    case .steadyUpdate: "durable update, steady state"
    case .steadyInsert: "durable insert, steady state"
    case .threads8: "durable updates of 8 threads"
    case .threads32: "durable updates of 32 threads"
    case .raiseScores: "raise all scores, durable"
    case .deleteInactive: "delete the inactive half, durable"
    case .open: "open and count"
    case .openAfterKill: "the same after a process was killed"
    case .openSmall: "open and count 1,000 Persons"
    case .ownerNames: "names of all tasks' owners"
    case .backlinks: "100,000 counts of a person's tasks"
    case .countByOwner: "count tasks, owner.age > 90"
    case .freshFile: "100,000 records, file fresh"
    case .pinnedReader: "file, reader pinned for commits"
    case .releasedReader: "file, 100 commits after release"
    case .pinnedReaders: "file, ten readers pinned meanwhile"
    case .smallFile: "1,000 records, file after commits"
    case .oneProcess: "commits of one process"
    case .processes: "two processes, one reader"
    case .countIDs: "count id IN 10,000 values"
    case .countAges: "count age IN 10,000 values"
    case .changeSet: "what a commit changed"
    case .ascendingKeys: "a row of the first million"
    case .ascendingKeysLater: "a row of the tenth million"
    case .uuidKeys: "a UUID's row of the first million"
    case .uuidKeysLater: "a UUID's row of the tenth million"
    case .scrambledFew: "a row of 100,000 at once"
    case .scrambled: "a row of 1,000,000 at once"
    case .scrambledMany: "a row of 10,000,000 at once"
    case .loadPairs: "keys and values: bulk load"
    case .singlePairs: "durable commits of one pair"
    case .pairBatches: "durable commits of 1,000 pairs"
    case .relaxedPairs: "relaxed commits of one pair"
    case .readPairs: "random reads"
    case .scanPairs: "random reads of 10 pairs in order"
    case .readPairs4: "random reads of 4 threads"
    case .readPairs32: "random reads of 32 threads"
    case .removePairs: "remove half of the pairs"
    case .pairFile: "their file"
    case .pairFileCompacted: "their file, compacted"
    case .listOwnerUpdate: "owners of lists: relaxed update of one"
    case .listAppend: "relaxed append to a long list"
    case .listInsert: "relaxed insertion at random"
    case .listRemove: "relaxed removal at random"
    case .linkOwnerUpdate: "owners of links: relaxed update of one"
    case .linkAppend: "relaxed append to a long list of links"
    case .linkInsert: "relaxed insertion of a link at random"
    case .linkRemove: "relaxed removal of a link at random"
    case .listRead: "list[i] at random"
    case .listIterate: "iterate a long list"
    case .listAppendTogether: "append a million together"
    case .listAppendEach: "append a million one by one"
    case .setContains: "set.contains at random"
    case .mapValue: "map[key] at random"
    case .listRemoveFirst: "remove the first, 100,000 times"
    case .shortLists: "insert objects with lists of three texts"
    case .iterateShortLists: "iterate these lists"
    case .shortListFile: "their file"
    case .deleteListed: "delete 1,000 objects of a list"
    case .deleteListedEach: "delete 1,000 more one by one"
    case .plainInsert: "relaxed inserts, not recorded"
    case .recordedInsert: "relaxed inserts, recorded"
    case .plainBulkInsert: "bulk insert, not recorded"
    case .recordedBulkInsert: "bulk insert, recorded"
    case .feedChanges: "what differs, by a change feed"
    case .diffVersions: "what differs between two versions"
    case .rowChanges: "the same as changes of rows"
    case .diffFiles: "what differs between two files"
    case .diffFilesInOtherOrder: "two files in another order"
    }
  }

  /// Those that run on the open file, in this order: what a workload finds does not depend on which others were chosen,
  /// but for the few thousand changes of those before it.
  static let onOpenFile: [Workload] = [
    .lookUp, .lookUpTogether, .iterate, .iterateStrings, .countAge, .countActive, .countEmail, .countNames,
    .countNamesIgnoringCase,
    .countCities, .sort, .sortLimited, .aggregate, .firstActive, .firstByCity, .countIDs, .countAges,
    .lookUpTwice, .iterateTwice,
    .countNamesTwice, .aggregateTwice, .update, .insert, .relaxedUpdate, .steadyUpdate, .steadyInsert,
    .threads8, .threads32, .changeSet, .raiseScores, .deleteInactive,
  ]

  /// Those on the file of Persons, or about it.
  static let onPeople = Set(onOpenFile).union(opening).union([
    .bulkInsert, .fileSize, .compactedSize, .iterateEvicted,
  ])
  static let opening: Set<Workload> = [.open, .openAfterKill, .openSmall]
  static let links: [Workload] = [.ownerNames, .backlinks, .countByOwner]
  static let queries: [Workload] = [
    .listRange, .listRangeAsTwo, .listPrefix, .listOneIndex, .listIndexAndTest, .listTwoIndexes, .countAnyTag,
    .countSubquery, .countTitles, .countTitlesFolded, .countAccentsFolded, .prepareConditions,
  ]
  static let titles: Set<Workload> = [.countTitles, .countTitlesFolded, .countAccentsFolded]
  static let series: Set<Workload> = [
    .ascendingKeys, .ascendingKeysLater, .uuidKeys, .uuidKeysLater, .scrambledFew, .scrambled, .scrambledMany,
  ]
  static let keyValues: [Workload] = [
    .loadPairs, .singlePairs, .pairBatches, .relaxedPairs, .readPairs, .scanPairs, .readPairs4,
    .readPairs32, .removePairs, .pairFile, .pairFileCompacted,
  ]
  static let growth: Set<Workload> = [
    .freshFile, .pinnedReader, .releasedReader, .pinnedReaders, .smallFile,
  ]

  /// Workloads on lists, in the order of the reports.
  static let lists: [Workload] = [
    .listAppend, .listInsert, .listRemove, .linkAppend, .linkInsert, .linkRemove, .listRead, .listIterate,
    .listAppendTogether, .listAppendEach, .listRemoveFirst, .shortLists, .iterateShortLists, .shortListFile,
    .deleteListed, .deleteListedEach,
  ]
  static let listCommits: Set<Workload> = [
    .listOwnerUpdate, .listAppend, .listInsert, .listRemove, .linkOwnerUpdate, .linkAppend, .linkInsert,
    .linkRemove,
  ]
  static let recordings: Set<Workload> = [
    .plainInsert, .recordedInsert, .plainBulkInsert, .recordedBulkInsert,
  ]
  static let differences: Set<Workload> = [.diffVersions, .rowChanges, .diffFiles, .diffFilesInOtherOrder]
  static let lookups: Set<Workload> = [.setContains, .mapValue]
  /// Those that only run when they are named: sets and maps are read whole as yet, which takes too long a million times.
  static let onRequest = lookups

  static func onLists(_ kind: Lists.Kind) -> Set<Workload> {
    switch kind {
    case .numbers:
      [
        .listOwnerUpdate, .listAppend, .listInsert, .listRemove, .listRead, .listIterate, .listAppendTogether,
        .listAppendEach, .listRemoveFirst,
      ]
    case .links: [.linkOwnerUpdate, .linkAppend, .linkInsert, .linkRemove, .deleteListed, .deleteListedEach]
    case .texts: [.shortLists, .iterateShortLists, .shortListFile]
    }
  }

  static let steady: Set<Workload> = [.steadyUpdate, .steadyInsert]
  static let smallCommits: Set<Workload> = [
    .update, .insert, .relaxedUpdate, .steadyUpdate, .steadyInsert, .threads8, .threads32,
  ]
}
