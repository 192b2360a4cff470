public import Foundation

// These conformances name the types that properties may have. Generic constraints of RealmSwift use the protocol, and
// programs use it by that name too.

extension Optional: _RealmSchemaDiscoverable where Wrapped: _RealmSchemaDiscoverable {}
extension String: _RealmSchemaDiscoverable {}
extension Data: _RealmSchemaDiscoverable {}
extension Date: _RealmSchemaDiscoverable {}
extension UUID: _RealmSchemaDiscoverable {}
extension AnyRealmValue: _RealmSchemaDiscoverable {}
extension ObjectBase: _RealmSchemaDiscoverable {}
extension List: _RealmSchemaDiscoverable {}
extension MutableSet: _RealmSchemaDiscoverable {}
extension Map: _RealmSchemaDiscoverable {}
extension LinkingObjects: _RealmSchemaDiscoverable {}
extension RealmOptional: _RealmSchemaDiscoverable {}
extension RealmProperty: _RealmSchemaDiscoverable {}
extension NSNumber: _RealmSchemaDiscoverable {}
extension NSString: _RealmSchemaDiscoverable {}
extension NSData: _RealmSchemaDiscoverable {}
extension NSDate: _RealmSchemaDiscoverable {}
