import CourierWire
import PushModel

/// Apps come, go and get tokens.
extension SimulatedDevice {
  /// The topics of all apps that have a token.
  var filter: [UInt8] {
    let enabled = state.apps.filter { $0.token != nil }.map(\.hash)
    return session.command(FilterUpdate(baseToken: state.baseToken, enabled: enabled))
  }

  mutating func tokenAnswered(
    _ response: AppTokenResponse, _ request: AppTokenRequest, _ next: [UInt8],
    _ actions: inout [DeviceAction]
  ) {
    guard let index = state.apps.firstIndex(where: { $0.hash == request.topic }) else {
      return send(next, &actions)
    }
    let topic = state.apps[index].topic
    guard let token = response.appToken else {
      if response.status == AppTokenResponse.statusRemoved {
        remove(topic, &actions)
      } else {
        actions.append(.emit(.tokenRefused(topic, status: response.status)))
      }
      return send(next, &actions)
    }
    var bytes: [UInt8] = []
    if state.apps[index].token != token {
      state.apps[index].token = token
      actions.append(.persist(state))
      bytes = filter
    }
    // The filter goes out before anybody can learn the token and push to it.
    send(bytes + next, &actions)
    if announced.updateValue(token, forKey: topic) != token { actions.append(.emit(.token(topic, token))) }
  }

  mutating func appStateChanged(
    _ change: AppStateChange, _ now: Instant, _ actions: inout [DeviceAction]
  ) {
    if change.action == .erased { return erase(now, &actions) }
    let known = state.apps.first { $0.hash == change.topic }?.topic
    guard let topic = known ?? change.topicName else { return }
    switch change.action {
    case .removed: remove(topic, &actions)
    case .installed: install(topic, &actions)
    case .reinstalled: reinstall(topic, &actions)
    case .updated: if known != nil { actions.append(.emit(.app(topic, .updated))) }
    case .erased: break
    }
  }

  /// An app that is there already asks for its token again.
  mutating func install(_ topic: Topic, _ actions: inout [DeviceAction]) {
    if addApp(topic) {
      actions.append(.persist(state))
      actions.append(.emit(.app(topic, .installed)))
    }
    requestToken(of: topic, &actions)
  }

  mutating func remove(_ topic: Topic, _ actions: inout [DeviceAction]) {
    guard let index = state.apps.firstIndex(where: { $0.topic == topic }) else { return }
    state.apps.remove(at: index)
    announced[topic] = nil
    actions.append(.persist(state))
    send(filter, &actions)
    actions.append(.emit(.app(topic, .removed)))
  }

  private mutating func reinstall(_ topic: Topic, _ actions: inout [DeviceAction]) {
    guard let index = state.apps.firstIndex(where: { $0.topic == topic }) else {
      return install(topic, &actions)
    }
    state.apps[index].token = nil
    announced[topic] = nil
    actions.append(.persist(state))
    send(filter, &actions)
    actions.append(.emit(.app(topic, .reinstalled)))
    requestToken(of: topic, &actions)
  }

  /// Everything that Apple gave the device is gone; the apps come back as from a backup and get new tokens.
  private mutating func erase(_ now: Instant, _ actions: inout [DeviceAction]) {
    state.baseToken = nil
    for index in state.apps.indices { state.apps[index].token = nil }
    announced = [:]
    needsActivation = true
    actions.append(.persist(state))
    actions.append(.emit(.erased(state.udid)))
    actions.append(.disconnect)
    endSession()
    proceed(now, &actions)
  }

  /// False if it is there already, or there are too many.
  mutating func addApp(_ topic: Topic) -> Bool {
    guard state.apps.count < Self.maximumApps, !state.apps.contains(where: { $0.topic == topic }) else {
      return false
    }
    state.apps.append(DeviceState.App(topic: topic))
    return true
  }

  private mutating func requestToken(of topic: Topic, _ actions: inout [DeviceAction]) {
    send(session.requestTokens(state.tokenRequests.filter { $0.topicName == topic }), &actions)
  }

  private func send(_ bytes: [UInt8], _ actions: inout [DeviceAction]) {
    if !bytes.isEmpty { actions.append(.send(bytes)) }
  }
}

extension DeviceState {
  /// Asks for the token of every app.
  var tokenRequests: [AppTokenRequest] {
    apps.map { app in
      AppTokenRequest(
        baseToken: baseToken, topic: app.hash, topicName: app.topic, heldToken: app.token)
    }
  }
}
