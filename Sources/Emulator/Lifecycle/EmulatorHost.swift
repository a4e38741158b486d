import Cluster
import Console
import Courier
import Node
import PushModel
import Services
import Transport
import WaysIn

/// What nodes of a cluster have of an emulator.
package final class EmulatorHost: NodeHost {
  private let shutdown: Shutdown
  private let listeners: Listeners
  private let courier: CourierService
  private let streams: StreamService

  init(
    _ shutdown: Shutdown, _ listeners: Listeners, _ courier: CourierService, _ streams: StreamService
  ) {
    (self.shutdown, self.listeners, self.courier, self.streams) = (shutdown, listeners, courier, streams)
  }

  package var failure: EmulatorError? { shutdown.failure }
  package var isEnding: Bool { shutdown.hasBegun }
  package var console: HTTPServer? { listeners.console }
  package var routes: RouteTable? { listeners.consoleRoutes?.table }

  package func take(_ device: EdgeDevice, _ connection: SocketConnection) { courier.take(connection, device) }

  package func endDevices(_ reason: String, where isGone: (UDID) -> Bool) {
    courier.end(reason, where: isGone)
    streams.end(reason, where: isGone)
  }

  package func giveUp(_ sentence: String) { shutdown.giveUp(sentence) }
}
