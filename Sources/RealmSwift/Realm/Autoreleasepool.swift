#if !canImport(ObjectiveC)
  /// Calls `body`. Where there is no Objective-C there is nothing to release by it: objects go with the last reference.
  public func autoreleasepool<Result>(invoking body: () throws -> Result) rethrows -> Result { try body() }
#endif
