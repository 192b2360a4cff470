import RealmStorage

// Queries compare stored values. These members therefore only change the type in which values are written.

extension Query where T: PersistableEnum {
  /// The raw value of the enumeration.
  public var rawValue: Query<T.RawValue> { retyped() }
}

extension Query where T: OptionalProtocol, T.Wrapped: PersistableEnum {
  /// The raw value of the enumeration, or nil.
  public var rawValue: Query<T.Wrapped.RawValue?> { retyped() }
}

extension Query where T: RealmCollection, T.Element: PersistableEnum {
  /// The raw values of the elements.
  public var rawValue: Query<AnyRealmCollection<T.Element.RawValue>> { retyped() }
}

extension Query where T: RealmCollection, T.Element: OptionalProtocol, T.Element.Wrapped: PersistableEnum {
  /// The raw values of the elements, with nil for those that are nil.
  public var rawValue: Query<AnyRealmCollection<T.Element.Wrapped.RawValue?>> { retyped() }
}

extension Query
where T: RealmKeyedCollection, T.Value: PersistableEnum, T.Value.RawValue: RealmCollectionValue {
  /// The raw values of the map's values.
  public var rawValue: Query<Map<T.Key, T.Value.RawValue>> { retyped() }
}

extension Query
where
  T: RealmKeyedCollection, T.Value: OptionalProtocol, T.Value.Wrapped: PersistableEnum,
  T.Value.Wrapped.RawValue: _RealmCollectionValueInsideOptional
{
  /// The raw values of the map's values, with nil for those that are nil.
  public var rawValue: Query<Map<T.Key, T.Value.Wrapped.RawValue?>> { retyped() }
}

extension Query where T: _HasPersistedType {
  /// The stored value: for a `CustomPersistable`, its `persistableValue`.
  public var persistableValue: Query<T.PersistedType> { retyped() }
}

extension Query where T: RealmCollection & _HasPersistedType, T.Element.PersistedType: RealmCollectionValue {
  /// The stored values of the elements.
  public var persistableValue: Query<AnyRealmCollection<T.Element.PersistedType>> { retyped() }
}

extension Query where T: RealmKeyedCollection, T.Value.PersistedType: RealmCollectionValue {
  /// The stored values of the map's values.
  public var persistableValue: Query<Map<T.Key, T.Value.PersistedType>> { retyped() }
}
