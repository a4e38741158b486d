import Basics
import Phone
import PushModel

/// Whatever may happen to a phone, by chance; the same seed gives the same life.
struct RandomLife {
  static let apps = ["com.example.app", "com.example.b", "com.example.c"].compactMap { Topic($0) }
  private static let versions = ["7", "8", "9", "11", "12", "13", "15", "17.2", "18", "26.4", "27"]

  private var chance: SeededChoices
  private(set) var now = Lab.start
  private var pushes: UInt64 = 0

  init(seed: UInt64) { chance = SeededChoices(seed: seed) }

  /// With three apps, put on it in any order.
  func phone(_ apps: [Topic] = apps) -> SimulatedPhone {
    var phone = SimulatedPhone()
    for topic in apps {
      phone.install(PhoneApp(topic, state: topic == Self.apps[0] ? .foreground : .suspended))
    }
    return phone
  }

  /// One thing that happens.
  enum Step {
    case push(PhonePush)
    case order(String)
    case time
  }

  mutating func next() -> (step: Step, at: Timestamp) {
    now = now.adding(
      nanoseconds: pick([0, 0, 1, 1_000_000_000, 61_000_000_000, 1_300_000_000_000, 86_400_000_000_000]))
    // A clock that was set back.
    let moment = chance.whole(upTo: 20) == 0 ? now.adding(nanoseconds: -3_600_000_000_000) : now
    switch chance.whole(upTo: 9) {
    case 0...3: return (.push(push()), moment)
    case 4...8: return (.order(order()), moment)
    default: return (.time, moment)
    }
  }

  // MARK: Pushes

  private mutating func push() -> PhonePush {
    pushes += 1
    let id = chance.whole(upTo: 200) == 0 ? UInt64.max - pushes : pushes
    let type = pick(
      [PushType.alert, .alert, .alert, .background, .background, .liveactivity, .liveactivity]
        + PushType.allCases)
    let aps = pick(type == .liveactivity ? Self.activities : Self.payloads)
    var push = PhonePush(
      id: id, topic: pick(Self.apps), payload: Array("{\"aps\":\(aps)}".utf8),
      type: chance.whole(upTo: 9) == 0 ? nil : type,
      priority: pick([.immediate, .conserving]), collapseId: pick(["a", "b", nil, nil]))
    push.token = pick([
      .app, .app, .context(.start(attributesType: "T")), .context(.activity(id: "activity-1")), .channel("n"),
    ])
    push.notificationId = pick([nil, 7, .max])
    return push
  }

  private static let payloads = [
    #"{"alert":"Hello","badge":-3,"sound":"default"}"#,
    #"{"alert":{"title":"a"},"content-available":1,"badge":7}"#,
    #"{"content-available":1}"#, #"{"content-available":1}"#, #"{"badge":0}"#,
    #"{"alert":"","mutable-content":1}"#, "{}", #""nonsense""#,
    #"{"alert":"x","interruption-level":"critical","sound":{"critical":1}}"#,
    #"{"alert":"x","category":"C","thread-id":"t"}"#,
    #"{"alert":"x","mutable-content":1,"category":"C"}"#,
    #"{"alert":"x","badge":9223372036854775807,"thread-id":"t"}"#,
    #"{"alert":{"loc-key":"%9$@ %@","loc-args":["a"]},"badge":1e300}"#, #"{"content-changed":true}"#,
    #"{"alert":"\#(String(repeating: "x", count: 4000))"}"#,
  ]

  private static let activities = [
    "-9223372036854775808", "0", "1600000000", "9223372036854775807", "1e300", "-1e300",
  ].flatMap {
    [
      #"{"event":"start","timestamp":\#($0),"attributes-type":"T","attributes":{"a":[[1]]},"alert":{"body":"x","sound":"default"},"content-state":{},"stale-date":\#($0)}"#,
      #"{"event":"start","timestamp":1,"attributes-type":"T","attributes":{},"alert":{},"content-state":{},"input-push-channel":"n"}"#,
      #"{"event":"update","timestamp":\#($0),"content-state":{"s":1},"stale-date":\#($0)}"#,
      #"{"event":"end","timestamp":\#($0),"dismissal-date":\#($0)}"#,
    ]
  }

  // MARK: Orders

  private mutating func order() -> String {
    let verb = pick(PhoneVerb.all.map(\.name) + ["settings", "settings", "local", "open", "leave"])
    let topic = "\"topic\":\"\(pick(Self.apps))\""
    let id =
      "\"id\":\(pick([1, Int64(clamping: pushes), Int64(clamping: pushes), chance.whole(upTo: 30), .max]))"
    let isYes = pick(["true", "false"])
    let members: [String] =
      switch verb {
      case "settings": [settings()]
      case "local": [topic, "\"identifier\":\"\(pick(["a", "b", "c\(chance.whole(upTo: 99))"]))\"", local()]
      case "leave": [topic, "\"state\":\"\(pick(["background", "suspended", "terminated", "force-quit"]))\""]
      case "answer": [topic, "\"allow\":\(isYes)"]
      case "authorize":
        [topic, "\"options\":[\(pick(["", "\"alert\"", "\"provisional\"", "\"badge\",\"sound\""]))]"]
      case "trial": [topic, "\"choice\":\"\(pick(TrialChoice.allCases.map(\.rawValue)))\""]
      case "action": [id, "\"action\":\"\(pick(["p", "f", "t"]))\"", "\"text\":\"x\""]
      case "reply": [id, "\"text\":\"x\""]
      case "tap", "flick", "dismiss", "expand": [id]
      case "call": ["\"take\":\(isYes)"]
      case "region": ["\"region\":\"r\"", "\"inside\":\(isYes)"]
      case "activity": [topic, "\"attributesType\":\"T\"", "\"intent\":\(isYes)"]
      case "remove-activity", "renew-token": ["\"activity\":\"activity-\(chance.whole(upTo: 20))\""]
      case "open", "register", "app-settings", "unschedule": [topic]
      default: []
      }
    return "{\(([#""do":"\#(verb)""#] + members.filter { !$0.isEmpty }).joined(separator: ","))}"
  }

  private mutating func settings() -> String {
    let own = pick([
      #""locked":true"#, #""locked":false"#, #""lowPower":true"#, #""lowPower":false"#,
      #""backgroundRefresh":false"#, #""backgroundRefresh":true"#, #""network":false"#, #""network":true"#,
      #""focus":{"allows":["com.example.b"],"filters":{"com.example.c":["w"]}}"#, #""focus":null"#,
      #""muted":true"#, #""previews":"when-unlocked""#, #""carPlay":true,"headphones":true"#,
      #""summary":{"times":["12:30","23:59"],"apps":["com.example.app","com.example.b"]}"#,
      #""summary":null"#,
      #""iosVersion":"\#(pick(Self.versions))""#,
    ])
    let status = pick(Permission.Status.allCases.map(\.rawValue))
    let callbacks = AppCallback.allCases.filter { _ in chance.unit() < 0.6 }.map { "\"\($0.number)\"" }
    let app = pick([
      #""permission":{"status":"\#(status)"}"#,
      #""permission":{"liveActivities":\#(pick(["true", "false"]))}"#,
      #""callbacks":[\#(callbacks.joined(separator: ","))]"#,
      #""state":"\#(pick(AppState.allCases.map(\.rawValue)))""#, #""fetchSeconds":3600"#,
      #""reportsCalls":false"#, #""frequentUpdates":true"#, #""activityTypes":["T","U"]"#,
      #""activityTypes":[]"#,
      #""entitlement":"none""#, #""entitlement":"development""#,
      #""serviceExtension":{"seconds":\#(pick(["0", "3", "29.5", "3600"])),"changes":{"alert":"y"}}"#,
      #""serviceExtension":null"#,
      #""contentExtension":{"name":"N","categories":["C"],"answer":"dismiss"}"#, #""options":null"#,
      #""options":["banner","list","badge"]"#,
      #""categories":{"C":{"customDismiss":true,"allowInCarPlay":true,"hiddenPreviewsShowTitle":true,"actions":[{"id":"p","title":"P","authentication":true},{"id":"f","title":"F","foreground":true},{"id":"t","title":"T","kind":"text"}]}}"#,
    ])
    return #"\#(own),"apps":{"\#(pick(Self.apps))":{\#(app)}}"#
  }

  private mutating func local() -> String {
    let trigger = pick([
      "{}", #"{"after":"1ms"}"#, #"{"after":"60s","repeats":true}"#, #"{"after":"59s","repeats":true}"#,
      #"{"after":"106751d"}"#,
      #"{"after":"106751d","repeats":true}"#, #"{"hour":12,"minute":27,"repeats":true}"#,
      #"{"hour":0,"weekday":7,"repeats":true}"#,
      #"{"enter":"r","repeats":true}"#, #"{"leave":"r"}"#, #"{"at":"9999-12-31T23:59:59Z"}"#,
      #"{"at":"0001-01-01T00:00:00Z"}"#,
    ])
    return
      #""content":{"title":"T","badge":\#(pick(["-1", "0", "5"])),"sound":"default","category":"C"},"trigger":\#(trigger)"#
  }

  private mutating func pick<Element>(_ all: [Element]) -> Element {
    all[Int(chance.whole(upTo: Int64(all.count) - 1))]
  }
}

extension SimulatedPhone {
  /// Lets it happen; an order that can't be carried out does nothing.
  mutating func live(_ step: RandomLife.Step, at moment: Timestamp) -> [PhoneEvent] {
    switch step {
    case .push(let push): return receive(push, at: moment)
    case .time: return advance(to: moment)
    case .order(let text):
      guard let value = JSONReader.read(Array(text.utf8)) else { return [] }
      return (try? perform(PhoneOrder(value), at: moment)) ?? []
    }
  }
}
