import RealmStorage
import RealmSyncClient
import Testing

@testable import RealmSwift

/// Subscriptions during a change.
@Suite struct SubscriptionDraftTests {
  private static let all = SubscriptionQuery(table: "Book", predicate: "")
  private static let new = SubscriptionQuery(table: "Book", predicate: "year > 2020")
  private static let authors = SubscriptionQuery(table: "Author", predicate: "")

  /// The content of a list, one subscription after another.
  private static func shown(_ list: [StoredSubscription]) -> [String] {
    list.map { "\($0.name ?? "-") \($0.table) \($0.predicate)" }
  }

  private static func draft() -> SubscriptionDraft {
    var draft = SubscriptionDraft([])
    _ = draft.add(all, named: nil)
    _ = draft.add(new, named: "new")
    _ = draft.add(authors, named: nil)
    return draft
  }

  @Test func `subscriptions without a name are told apart by their queries, and each name is used once`() {
    var draft = Self.draft()
    let (isThere, isRefused) = (draft.add(Self.all, named: nil), !draft.add(Self.authors, named: "new"))
    #expect(isThere && isRefused && draft.list.count == 3)
    let areAdded = [draft.add(Self.new, named: "again"), draft.add(Self.new, named: nil)]
    #expect(areAdded == [true, true] && draft.list.count == 5)
    #expect(Set(draft.list.map(\.id)).count == 5)
    #expect(draft.list.allSatisfy { $0.createdAt == $0.updatedAt && $0.createdAt > 1_600_000_000_000 })
  }

  @Test func `a change keeps the place of a named subscription, and moves an unnamed one to the end`() {
    var draft = Self.draft()
    let ids = draft.list.map(\.id)
    var isThere = [draft.change(ids[1], to: Self.all)]
    #expect(Self.shown(draft.list) == ["- Book ", "new Book ", "- Author "])
    isThere.append(draft.change(ids[0], to: Self.new))
    #expect(Self.shown(draft.list) == ["new Book ", "- Author ", "- Book year > 2020"])
    #expect(draft.list.map(\.id) == [ids[1], ids[2], ids[0]])
    // Another subscription without a name has the requested query already.
    isThere.append(draft.change(ids[2], to: Self.new))
    #expect(Self.shown(draft.list) == ["new Book ", "- Book year > 2020"])
    isThere.append(draft.change(ids[2], to: Self.all))
    #expect(isThere == [true, true, true, false])
  }

  @Test func `a name can get another query, and a query can get another name`() {
    var draft = Self.draft()
    let ids = draft.list.map(\.id)
    let named = draft.assign(Self.authors, named: "new")
    let unnamed = draft.assign(Self.authors, named: nil)
    #expect(named == ids[1] && unnamed == ids[2])
    #expect(Self.shown(draft.list) == ["- Book ", "new Author ", "- Author "])
    let made = draft.assign(Self.new, named: "newer")
    #expect(made == draft.list.last?.id && draft.list.count == 4)
    let areFree = [draft.rename(ids[0], "all"), draft.rename(ids[2], "all"), draft.rename(ids[0], "all")]
    #expect(areFree == [true, false, true])
    #expect(Self.shown(draft.list) == ["all Book ", "new Author ", "- Author ", "newer Book year > 2020"])
  }

  @Test func `the first subscription that fits is removed, or all of them`() {
    var draft = Self.draft()
    draft.removeFirst { $0.table == "Book" }
    #expect(Self.shown(draft.list) == ["new Book year > 2020", "- Author "])
    draft.removeFirst { $0.table == "Song" }
    draft.removeAll { $0.name == nil }
    #expect(Self.shown(draft.list) == ["new Book year > 2020"])
  }

  @Test func `the changes that others make meanwhile are kept`() {
    let base = Self.draft().list
    #expect(SubscriptionDraft(base).applied(to: base) == base)
    var others = SubscriptionDraft(base)
    others.removeFirst { $0.table == "Author" }
    _ = others.add(Self.authors, named: "theirs")
    _ = others.add(Self.new, named: nil)
    _ = others.add(Self.all, named: "both")
    var own = SubscriptionDraft(base)
    own.removeFirst { $0.name == nil }
    _ = own.change(base[1].id, to: Self.authors)
    _ = own.add(Self.new, named: nil)
    _ = own.add(Self.new, named: "both")
    _ = own.add(Self.all, named: "mine")
    #expect(
      Self.shown(own.applied(to: others.list)) == [
        "new Author ", "theirs Author ", "- Book year > 2020", "both Book year > 2020", "mine Book ",
      ])
    #expect(Self.shown(SubscriptionDraft(base).applied(to: others.list)) == Self.shown(others.list))
  }
}
