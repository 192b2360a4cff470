// Answers: true false 2
import Foundation
import RealmSwift

extension Store {
  fileprivate func stay() { realm.autorefresh = false }

  fileprivate func refreshed() async -> String {
    let isNew = await realm.asyncRefresh()
    let again = await realm.asyncRefresh()
    return "\(isNew) \(again) \(realm.objects(Person.self).count)"
  }
}

func refreshInActor() async throws -> String {
  let configuration = memory()
  let (one, two) = (Store(configuration), Store(configuration))
  try await one.open()
  try await two.open()
  await two.stay()
  try await one.add(2, "Grace")
  return await two.refreshed()
}
