/// The workloads. A number means the same workload in all reports of this project.
enum Workload: String, CaseIterable {
  /// Inserts all Persons in one durable transaction into a new file. Making the Persons is not part of the time. The
  /// workload runs in a process of its own, which also reports the peak of its anonymous memory.
  case bulkInsert = "1"
  /// The bytes of all of the engine's files for each Person, after the bulk insert and closing.
  case fileSize = "2"
  /// The same bytes for a copy that is as small as the engine can make it: VACUUM, MDB_CP_COMPACT. If an engine can't
  /// make one, it is the file as it is.
  case compactedSize = "2c"
  /// A million lookups by random primary keys. Each lookup reads name and age.
  case lookUp = "3"
  /// The same lookups by an engine that can be asked for many objects at once.
  case lookUpTogether = "3b"
  /// Iterates all Persons, reading name, age and score.
  case iterate = "4"
  /// Workload 4 with a String for each name, which is what programs read, while 4 reads the bytes. For objects and
  /// records 4 does this already.
  case iterateStrings = "4s"
  /// Workload 4 on a file that was just opened and of which the page cache has nothing.
  case iterateEvicted = "4d"
  /// Counts age == 42. Age is not indexed.
  case countAge = "5"
  /// Counts age > 50 && active. Neither is indexed.
  case countActive = "6"
  /// Counts email == X. Email is not indexed.
  case countEmail = "7"
  /// Counts names that contain 'River'.
  case countNames = "8"
  /// The same count without a difference between A to Z and a to z.
  case countNamesIgnoringCase = "8b"
  /// Ten thousand counts of city == X. City is indexed.
  case countCities = "9"
  /// Sorts all Persons by age and name, and reads the first 100.
  case sort = "10"
  /// The same with a limit of 100, if an engine accepts one.
  case sortLimited = "10b"
  /// The sum of scores and the average of ages.
  case aggregate = "11"
  /// Finds the first active Person that the engine meets, a thousand times. Half of the Persons are active.
  case firstActive = "Q1"
  /// Reads the cities of the first 100 Persons by city, which is indexed, a hundred times.
  case firstByCity = "Q9"
  /// Lists the 1,000 Persons created in a range of an indexed date, and reads their names, a hundred times.
  case listRange = "Q2"
  /// The same range as two comparisons that are joined.
  case listRangeAsTwo = "Q2a"
  /// Lists the 200 Persons whose indexed name begins with a text, and reads their ages, a hundred times.
  case listPrefix = "Q3"
  /// Lists the Persons of an indexed age, a hundredth of all, and reads nothing of them, a hundred times.
  case listOneIndex = "Q4s"
  /// Lists the Persons of an indexed age and a rank that is not indexed, and reads their ids, a hundred times.
  case listIndexAndTest = "Q4x"
  /// The same with a rank that is indexed. Each of the two conditions alone is true for a hundredth of all Persons.
  case listTwoIndexes = "Q4"
  /// Counts notes of which any tag is 'River'. There are a fifth as many notes as Persons, each with a list of three
  /// tags.
  case countAnyTag = "Q5"
  /// Counts humans with at least two dogs older than 5. There are three tenths as many humans as Persons, with 0 to 4
  /// dogs each.
  case countSubquery = "Q6"
  /// Counts titles, which are names, that contain 'River'.
  case countTitles = "Q7p"
  /// The same count without regard to case and diacritics.
  case countTitlesFolded = "Q7"
  /// The same count in titles of which a tenth have accents.
  case countAccentsFolded = "Q7u"
  /// Reads the text of ten conditions and prepares them for running.
  case prepareConditions = "Q11"
  /// Workloads 3, 4, 8 and 11 by two threads at once, each of which does all of it.
  case lookUpTwice = "3t"
  case iterateTwice = "4t"
  case countNamesTwice = "8t"
  case aggregateTwice = "11t"
  /// Small durable commits, each setting the score of one random Person, on the file as the bulk insert left it.
  case update = "12"
  /// Small durable commits, each adding one Person.
  case insert = "12b"
  /// Workload 12 with commits that survive the death of the process: `.relaxed`, and SQLite's `synchronous=NORMAL`.
  case relaxedUpdate = "12n"
  /// Workload 12 after 100,000 random updates in relaxed commits of 100. The file is then like that of a program that
  /// has run for a long time.
  case steadyUpdate = "12s"
  /// Workload 12b on the file of workload 12s.
  case steadyInsert = "12bs"
  /// Small durable commits of 8 threads at once, each updating random Persons. For an engine without group commit, the
  /// waiting changes are made in one transaction.
  case threads8 = "12g"
  /// The same with 32 threads.
  case threads32 = "12g32"
  /// Adds 1 to all scores in one durable transaction.
  case raiseScores = "13"
  /// Deletes the Persons who are not active, about half of them, in one durable transaction.
  case deleteInactive = "14"
  /// Opens the file, which was closed before, and counts the remaining Persons.
  case open = "15"
  /// The same after a process that committed was killed with the file open.
  case openAfterKill = "15k"
  /// Workload 15 with a file of 1,000 Persons.
  case openSmall = "15s"
  /// Reads the name of the owner of each Task. There are a fifth as many Tasks as Persons.
  case ownerNames = "16"
  /// Counts the Tasks of each of some random Persons, by their ids.
  case backlinks = "17"
  /// Counts Tasks whose owner is older than 90.
  case countByOwner = "18"
  /// The size of all files with 100,000 records of 200 bytes, closed. It is measured in the first round only, like 20
  /// and 20r, because they do not vary.
  case freshFile = "20f"
  /// The same size after 10,000 durable commits of one update each, while a reader stays on the version before them.
  case pinnedReader = "20"
  /// The same size after 100 more commits without the reader.
  case releasedReader = "20r"
  /// Workload 20 with ten readers that begin one after another while the commits go on.
  case pinnedReaders = "20b"
  /// The size of a file of 1,000 records of 700 bytes after as many commits as in workload 20, without a reader.
  case smallFile = "20k"
  /// 10,000 small durable commits of one process to a file of 1 GiB.
  case oneProcess = "20a"
  /// The same commits by two processes in turns, while a third process holds a reader of the version before them.
  case processes = "20p"
  /// Counts the Persons whose id, the primary key, is one of 10,000 values.
  case countIDs = "21a"
  /// Counts the Persons whose age, which is not indexed, is one of 10,000 values.
  case countAges = "21b"
  /// Finds what a commit of one update changed, by comparing the versions before and after it.
  case changeSet = "22"
  /// The cost of a row in a table that grows to 10,000,000 rows with ascending primary keys, in durable commits of
  /// 10,000: of the first million, and of the tenth.
  case ascendingKeys = "F1"
  case ascendingKeysLater = "F1x"
  /// The same with random UUIDs.
  case uuidKeys = "F2"
  case uuidKeysLater = "F2x"
  /// The cost of a row of 100,000, of 1,000,000 and of 10,000,000 rows in one durable transaction, with integers in
  /// random order as primary keys.
  case scrambledFew = "F3s"
  case scrambled = "F3"
  case scrambledMany = "F3x"
  /// The phases of redb's benchmark, in its order, on one file of keys of 24 bytes and values of 150 bytes. This phase
  /// is a bulk load of 5,000,000 pairs in one durable transaction.
  case loadPairs = "K1"
  /// 1,000 durable commits of one pair each.
  case singlePairs = "K2"
  /// 100 durable commits of 1,000 pairs each.
  case pairBatches = "K3"
  /// 50,000 relaxed commits of one pair each. Those of LMDB do not keep its file sound through a loss of power.
  case relaxedPairs = "K4"
  /// 1,000,000 reads of values by random keys.
  case readPairs = "K5"
  /// 500,000 reads of 10 pairs, each beginning at a random key.
  case scanPairs = "K6"
  /// Workload K5 with the reads distributed to 4 and to 32 threads.
  case readPairs4 = "K7"
  case readPairs32 = "K7b"
  /// Removes half of the pairs, in one durable transaction.
  case removePairs = "K8"
  /// The size of all files after that, and the size after compaction.
  case pairFile = "K9"
  case pairFileCompacted = "K9c"
  /// Relaxed commits, each setting the number of a random owner. One owner has a list of 1,000,000 integers.
  case listOwnerUpdate = "C0"
  /// Relaxed commits, each appending an element to the long list.
  case listAppend = "C1"
  /// Relaxed commits, each inserting an element at a random place of the long list.
  case listInsert = "C2"
  /// Relaxed commits, each removing a random element of the long list.
  case listRemove = "C2r"
  /// Workloads C0 to C2r with a list of 1,000,000 links to objects.
  case linkOwnerUpdate = "C3u"
  case linkAppend = "C3"
  case linkInsert = "C3i"
  case linkRemove = "C3r"
  /// Reads random elements of the long list of numbers.
  case listRead = "C4"
  /// Reads all elements of that list in order.
  case listIterate = "C5"
  /// Appends 1,000,000 numbers to a list in one durable transaction, by one call and by one call for each.
  case listAppendTogether = "C6"
  case listAppendEach = "C6e"
  /// Asks a set of 1,000,000 texts for texts that it has, and a map for the numbers of its keys.
  case setContains = "C7"
  case mapValue = "C7m"
  /// Removes the first element of the long list 100,000 times in one durable transaction.
  case listRemoveFirst = "C8"
  /// Inserts 100,000 objects with a list of three texts each in one durable transaction.
  case shortLists = "C9"
  /// Reads all texts of these lists.
  case iterateShortLists = "C9i"
  /// The bytes of all files after that, closed, for each of these objects.
  case shortListFile = "C9f"
  /// Deletes 1,000 objects that the long list of links contains, in one durable transaction, by one call and one by
  /// one.
  case deleteListed = "C10"
  case deleteListedEach = "C10e"
  /// Workload 12b with relaxed commits, without a recorder, and with one that keeps each change with the values before
  /// it.
  case plainInsert = "D1p"
  case recordedInsert = "D1"
  /// Workload 1 in the process of the other workloads, without a recorder and with one.
  case plainBulkInsert = "D2p"
  case recordedBulkInsert = "D2"
  /// Finds the 1,000 objects that differ between two versions of a file, with their values.
  case diffVersions = "D3"
  /// Finds the same differences as changes of rows, which can be applied and undone.
  case rowChanges = "D3c"
  /// Finds the same differences as objects and properties of a change feed, without the commit that moves its token.
  case feedChanges = "D5"
  /// Finds such differences between two files that were made separately, with the same Persons in the same order.
  case diffFiles = "D4"
  /// Compares two files with the same Persons, which were added in different orders.
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

  /// The workloads on the open file, in this order. The state that a workload finds does not depend on which others
  /// were chosen, except for the few thousand changes of those before it.
  static let onOpenFile: [Workload] = [
    .lookUp, .lookUpTogether, .iterate, .iterateStrings, .countAge, .countActive, .countEmail, .countNames,
    .countNamesIgnoringCase,
    .countCities, .sort, .sortLimited, .aggregate, .firstActive, .firstByCity, .countIDs, .countAges,
    .lookUpTwice, .iterateTwice,
    .countNamesTwice, .aggregateTwice, .update, .insert, .relaxedUpdate, .steadyUpdate, .steadyInsert,
    .threads8, .threads32, .changeSet, .raiseScores, .deleteInactive,
  ]

  /// The workloads on the file of Persons, or about it.
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
  /// The workloads that run only if they are named. Sets and maps are still read as a whole, which takes too long a
  /// million times.
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
