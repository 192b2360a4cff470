/// What is frozen belongs to nobody, so it may be sent anywhere.
func sent<Frozen>(_ frozen: Frozen) -> sending Frozen {
  nonisolated(unsafe) let frozen = frozen
  return frozen
}
