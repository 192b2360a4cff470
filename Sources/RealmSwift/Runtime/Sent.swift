/// Returns a frozen value as one that may be sent anywhere, since it belongs to no thread.
func sent<Frozen>(_ frozen: Frozen) -> sending Frozen {
  nonisolated(unsafe) let frozen = frozen
  return frozen
}
