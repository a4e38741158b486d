import CourierWire
import PushModel

/// The apps of a device with their tokens: what it remembers of them, and what it was told in this run.
struct DeviceApps {
  var state: DeviceState
  /// Tokens that were told in this run.
  private(set) var tokens: [TokenNeed: DeviceToken] = [:]
  /// What the service has given no token for, when it was asked last.
  private(set) var refusals: Set<TokenNeed> = []

  init(_ state: DeviceState) { self.state = state }

  /// Answers whether that is another one.
  mutating func take(baseToken: DeviceToken?) -> Bool {
    defer { state.baseToken = baseToken }
    return state.baseToken != baseToken
  }

  // MARK: What the service answers

  /// What has become of a request.
  enum Answer {
    /// Things have changed since, and what counts now was asked for too.
    case late
    /// Of a context that is not wanted any more.
    case ended(TokenNeed)
    /// `isOther` than the one that was remembered; `isNews` in this run.
    case given(TokenNeed, DeviceToken, isOther: Bool, isNews: Bool)
    case refused(TokenNeed, status: UInt8)
    /// An app without a token is gone.
    case gone(Topic)
    /// A context that had a token, as before a restore, wants another.
    case wanted(TokenNeed)
  }

  mutating func take(_ response: AppTokenResponse, for request: AppTokenRequest) -> Answer {
    guard let index = state.index(of: request) else { return .late }
    let need = state.held[index].need
    if request.isOver {
      state.held.remove(at: index)
      tokens[need] = nil
      return .ended(need)
    }
    guard let token = response.appToken else {
      return noToken(index, response.status, hadOne: request.heldToken != nil)
    }
    let isOther = state.held[index].token != token
    if isOther { state.held[index].token = token }
    refusals.remove(need)
    return .given(need, token, isOther: isOther, isNews: tokens.updateValue(token, forKey: need) != token)
  }

  private mutating func noToken(_ index: Int, _ status: UInt8, hadOne: Bool) -> Answer {
    let need = state.held[index].need
    let isGone = status == AppTokenResponse.statusRemoved
    if isGone, need.context == nil { return .gone(need.topic) }
    if isGone, hadOne {
      state.held[index].token = nil
      return .wanted(need)
    }
    refusals.insert(need)
    return .refused(need, status: status)
  }

  // MARK: Apps come and go

  /// The app's topics that it has: those with a suffix end, and come back, with the one without.
  func family(of topic: Topic) -> [Topic] {
    state.apps.map(\.topic).filter { $0.belongs(toApp: topic) }
  }

  mutating func remove(_ app: Topic) {
    state.remove(app)
    forgetTokens(of: app)
  }

  mutating func renew(_ app: Topic) {
    state.renew(app)
    forgetTokens(of: app)
  }

  private mutating func forgetTokens(of app: Topic) {
    tokens = tokens.filter { !$0.key.topic.belongs(toApp: app) }
  }

  /// Everything that Apple gave the device is gone. Erased, its apps are too; restored, they come back as from a backup and get
  /// new tokens.
  mutating func becomeNew(_ action: AppStateChange.Action) {
    state.baseToken = nil
    if action == .erased { state.held = [] }
    state.renew()
    tokens = [:]
  }
}
