import RealmStorage

// What is stored of a value is what queries read, so that these change only the type that values are given in.

extension Query where T: PersistableEnum {
  /// The raw value of the enumeration.
  public var rawValue: Query<T.RawValue> { Query<T.RawValue>(node) }
}

extension Query where T: OptionalProtocol, T.Wrapped: PersistableEnum {
  /// The raw value of the enumeration, or nil.
  public var rawValue: Query<T.Wrapped.RawValue?> { Query<T.Wrapped.RawValue?>(node) }
}

extension Query where T: RealmCollection, T.Element: PersistableEnum {
  /// The raw values of the elements.
  public var rawValue: Query<AnyRealmCollection<T.Element.RawValue>> {
    Query<AnyRealmCollection<T.Element.RawValue>>(node)
  }
}

extension Query where T: RealmCollection, T.Element: OptionalProtocol, T.Element.Wrapped: PersistableEnum {
  /// The raw values of the elements, or nil.
  public var rawValue: Query<AnyRealmCollection<T.Element.Wrapped.RawValue?>> {
    Query<AnyRealmCollection<T.Element.Wrapped.RawValue?>>(node)
  }
}

extension Query where T: _HasPersistedType {
  /// What is stored of the value: of a `CustomPersistable` its `persistableValue`.
  public var persistableValue: Query<T.PersistedType> { Query<T.PersistedType>(node) }
}

extension Query where T: RealmCollection & _HasPersistedType, T.Element.PersistedType: RealmCollectionValue {
  /// What is stored of the elements.
  public var persistableValue: Query<AnyRealmCollection<T.Element.PersistedType>> {
    Query<AnyRealmCollection<T.Element.PersistedType>>(node)
  }
}
