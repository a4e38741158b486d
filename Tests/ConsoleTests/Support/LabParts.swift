import Basics
import Broker
import Console
import Faults
import Phones
import PushModel
import SavedState
import Services
import TestSupport
import Transport
import WaysIn

/// What a lab's console is made of; to be changed before it is made.
final class LabParts {
  let broker: Broker
  let clock = LabClock()
  let timers = LabTimers()
  var isPushTypeStrict = false
  var (bindHost, allowedHosts, accessToken) = ("127.0.0.1", [String](), String?.none)
  var info: () -> EmulatorInfo = { EmulatorInfo() }
  var unreadiness: () -> String? = { nil }
  var activation = PeerGroup.Activation.open
  var activate: ((HTTPExchange, @escaping (HTTPResponse) -> Void) -> Bool)?
  var push: PeerGroup.Answering = { _, reply in reply(HTTPResponse(status: 418)) }
  var testPushes = FakeTestPushes { _ in 0 }
  var explainToken: TokenGroup.Explanation = { _, _, _, _, _ in [] }
  var background: (any BesideLoop)?
  var credentials: any CredentialIssuer = FakeIssuer()
  var cluster: (any ClusterBoard)?
  var router: (any RequestRouter)?
  var streams: any DeviceStreams = FakeStreams()
  var faults = FaultEngine(seed: 1)
  var advice = FakeAdvice()
  var drills: (any DrillBoard)?
  var connections: () -> [() -> ConnectionReport] = { [] }
  var metrics: () -> [MetricFamily] = { [] }

  init(_ broker: Broker) { self.broker = broker }

  lazy var events = OwnEvents(broker, now: clock.now)
  lazy var phones = PhoneBoard(broker, now: clock.now, publish: events.publish)
  private lazy var context = ConsoleContext(
    broker, now: clock.now, bindHost: bindHost, allowedHosts: allowedHosts, accessToken: accessToken,
    events: events, makeTimer: timers.make)
  lazy var waits = context.waits
  private lazy var watching = EventGroup(context)
  private lazy var slices = context.slices
  lazy var clockGroup = ClockGroup(clock, broker, slices, events)
  var boot: String { context.boot }

  func makeConsole() -> Console {
    Console(context, about: about, devices + history + deeds + others, router: router)
  }

  private var about: [any RouteGroup] {
    [
      InfoGroup(broker, clock, boot: boot, info: info, unreadiness: unreadiness),
      MetricsGroup(
        broker, faults, eventStreams: { [watching] in watching.clientCount }, others: metrics),
    ]
  }

  private var devices: [any RouteGroup] {
    [
      CredentialGroup(credentials, broker.registry), TokenGroup(broker, .sandbox, explain: explainToken),
      DeviceGroup(broker, .sandbox), StreamGroup(streams, broker.registry, .sandbox),
      PhoneGroup(phones, broker.registry, makeTimer: timers.make),
    ]
  }

  private var history: [any RouteGroup] {
    [
      NotificationGroup(broker, events), WaitGroup(broker, waits, slices), watching,
      ConnectionGroup(list: connections), AdviceGroup(advice), DrillGroup(drills),
    ]
  }

  private var deeds: [any RouteGroup] {
    let live = LiveState(broker, .sandbox, clock, faults, credentials)
    let states = SavedStateGroup(live, slices, events, background: background)
    let target = ResetTarget(broker, clock, faults, phones, advice, forgetDevices: nil)
    return [
      TestPushGroup(testPushes, broker, .sandbox),
      ResetGroup(target, slices, events, willReset: states.willReset),
      clockGroup, states, FaultGroup(faults),
      ExplainGroup(isPushTypeStrict: isPushTypeStrict), ClusterGroup(cluster),
    ]
  }

  private var others: [any RouteGroup] {
    [PeerGroup(activation, activate: activate, push: push), DashboardGroup()]
  }
}
