/// The version of this library, as `realm --version` prints it and the newest heading of CHANGELOG.md names it.
package enum LibraryVersion {
  package static let current = "0.1.0"
}
