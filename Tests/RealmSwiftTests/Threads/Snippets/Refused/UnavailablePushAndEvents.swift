// Refused: Register the device with a push service of your own. | Add objects of a class of your own that tell what was done. | Realm.Error.callFailed is not there.
import Foundation
import RealmSwift

func snippet(_ app: App, _ user: User, _ configuration: Realm.Configuration) {
  app.pushClient(serviceName: "push").registerDevice(token: "token", user: user) { print($0 ?? "") }
  var configuration = configuration
  configuration.eventConfiguration = EventConfiguration(metadata: ["version": "2"])
  do {
    print(try Realm(configuration: configuration).events?.beginScope(activity: "read").isActive ?? false)
  } catch Realm.Error.callFailed {
  } catch { print(error) }
}
