import RealmSwift

/// The objects that a client shows, with a line for each object.
struct Content {
  let text: String

  /// The name of the file in the client's folder that has the text.
  static let file = "content.txt"

  init(text: String) { self.text = text }

  init(of realm: Realm) {
    var lines: [String] = []
    for author in realm.objects(Author.self).sorted(byKeyPath: "id") {
      let recent = author.recent.map { "\($0)" }.joined(separator: ",")
      lines.append("author \(author.id) \(author.last) \(author.sum) \(author.boards) [\(recent)]")
    }
    for board in realm.objects(Board.self).sorted(byKeyPath: "id") {
      lines.append("board \(board.id) \(board.sum) \(board.text)")
    }
    for entry in realm.objects(Entry.self).sorted(byKeyPath: "id") {
      lines.append("entry \(entry.id) \(entry.text)")
    }
    text = lines.joined(separator: "\n")
  }

  /// A hash of the text (FNV-1a).
  var hash: UInt64 {
    text.utf8.reduce(0xcbf2_9ce4_8422_2325) { hash, byte in (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
  }

  /// The models of the authors in the text, by their numbers.
  var authors: [Int: AuthorModel] {
    var found: [Int: AuthorModel] = [:]
    for line in text.split(separator: "\n") {
      let words = line.split(separator: " ")
      let numbers = words.dropFirst().compactMap { Int($0) }
      switch words.first {
      case "author" where numbers.count == 4 && words.count == 6:
        var author = found[numbers[0]] ?? AuthorModel(numbers[0])
        (author.last, author.sum, author.boards) = (numbers[1], numbers[2], numbers[3])
        author.recent = words[5].dropFirst().dropLast().split(separator: ",").compactMap { Int($0) }
        found[numbers[0]] = author
      case "entry" where words.count > 1:
        let parts = words[1].split(separator: "-").compactMap { Int($0) }
        guard parts.count == 2 else { continue }
        found[parts[0], default: AuthorModel(parts[0])].entries.insert(parts[1])
      default: break
      }
    }
    return found
  }

  /// The sum that all clients have added to the board; nil if there is no board, or more than one.
  var boardSum: Int? {
    let boards = text.split(separator: "\n").filter { $0.hasPrefix("board ") }
    guard boards.count == 1 else { return nil }
    return boards[0].split(separator: " ").dropFirst(2).first.flatMap { Int($0) }
  }

  var countOfObjects: Int { text.split(separator: "\n").count }
}
