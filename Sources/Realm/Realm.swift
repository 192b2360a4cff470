// For programs that import both, as those that used Realm's Objective-C module did.
@_exported import RealmSwift
