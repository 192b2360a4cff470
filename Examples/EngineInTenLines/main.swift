// The storage engine by itself: ordered keys and values in a file, many versions, one writer.
import Foundation
import RealmStorage

let path = FileManager.default.temporaryDirectory.appendingPathComponent("ten-lines.realm").path
let database = try Database(path: path)
let before = try database.snapshot()
try database.write { transaction in
  let visits = try transaction.tree("visits")
  let count =
    try visits.value(for: Array("count".utf8)).map { Int(String(decoding: $0, as: UTF8.self)) ?? 0 } ?? 0
  try visits.set(Array("\(count + 1)".utf8), for: Array("count".utf8))
}
let now = try database.snapshot().tree("visits").value(for: Array("count".utf8)) ?? []
print("Run \(String(decoding: now, as: UTF8.self)) of this example; version \(database.version) of \(path).")
print("The snapshot taken before still holds version \(before.version).")
