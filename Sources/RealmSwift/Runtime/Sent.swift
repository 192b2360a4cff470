/// Returns a frozen value as a value that may be sent anywhere, because it belongs to no thread.
func sent<Frozen>(_ frozen: Frozen) -> sending Frozen {
  nonisolated(unsafe) let frozen = frozen
  return frozen
}
