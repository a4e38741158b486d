import Broker
import CourierWire

extension AppStateChange.Action {
  /// How a simulated device hears of what a person did.
  init(_ change: AppChange) {
    switch change {
    case .install: self = .installed
    case .update: self = .updated
    case .reinstall: self = .reinstalled
    case .remove: self = .removed
    case .erase: self = .erased
    }
  }
}
