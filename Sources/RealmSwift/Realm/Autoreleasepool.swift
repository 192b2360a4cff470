#if !canImport(ObjectiveC)
  /// Calls `body` and returns what it returns. On systems without Objective-C there is no pool to release: an object is freed
  /// with the last reference to it.
  public func autoreleasepool<Result>(invoking body: () throws -> Result) rethrows -> Result { try body() }
#endif
