import CourierWire
import PushModel
import Testing

@Suite("Courier server session: verdicts, limits and time")
struct CourierServerSessionFactsTests {
  typealias Session = CourierServerSession
  typealias Table = CourierServerSessionTests

  private let start = Table.start
  private let date = Table.date
  private let token = Table.baseToken
  private let other = Table.otherToken
  private let request = Table.request

  private func connected(_ token: DeviceToken?, _ status: UInt8 = 0) -> [UInt8] {
    ConnectedResponse(status: status, baseToken: token, at: date).encoded
  }

  @Test("an accepted identity is told its token unless it knew it; without a pending connect nothing happens")
  func accepted() {
    for state in Table.State.allCases {
      for wasKnown in [true, false] {
        var session = Table.session(in: state)
        let action = session.identityAccepted(
          request, baseToken: other, tokenWasKnown: wasKnown, at: start, date: date)
        switch state {
        case .verifying, .verifyingAnother:
          #expect(action == .send(connected(wasKnown ? nil : other)))
          #expect(session.identities == (state == .verifying ? [other] : [token, other]))
        default: #expect(action == .nothing)
        }
      }
    }
  }

  @Test("a refused identity is told status 2 and the connection ends, also for the others on it")
  func refused() {
    for state in Table.State.allCases {
      var session = Table.session(in: state)
      let action = session.identityRefused(date: date)
      let isPending = state == .verifying || state == .verifyingAnother
      #expect(action == (isPending ? .sendAndClose(connected(nil, 2), .identityRefused) : .nothing))
      #expect(session.isClosed == (isPending || state == .closed))
    }
  }

  @Test("a further identity that belongs elsewhere is told status 2, and the others on the connection stay")
  func declined() {
    for state in Table.State.allCases {
      var session = Table.session(in: state)
      let wasClosed = session.isClosed
      let action = session.identityDeclined(date: date)
      guard state == .verifyingAnother else {
        #expect(action == .nothing && session.isClosed == wasClosed)
        continue
      }
      #expect(action == .send(connected(nil, 2)))
      #expect(session.identities == [token] && session.isEstablished)
      #expect(session.receive(request, at: start) == .verify(request), "the next may come")
    }
  }

  @Test("connects without end close the connection, and those of ten minutes ago don't count")
  func connects() {
    var session = Table.session(in: .verifyingAnother)
    var now = start
    // One has been received to get here.
    for _ in 2..<CourierLimits.connectsPerConnection {
      _ = session.identityAccepted(request, baseToken: token, tokenWasKnown: true, at: now, date: date)
      #expect(session.receive(request, at: now) == .verify(request))
    }
    _ = session.identityAccepted(request, baseToken: token, tokenWasKnown: true, at: now, date: date)
    now = start.adding(nanoseconds: CourierLimits.connectsNanoseconds)
    #expect(session.receive(request, at: now) == .verify(request))
    for _ in 2..<CourierLimits.connectsPerConnection {
      _ = session.identityAccepted(request, baseToken: token, tokenWasKnown: true, at: now, date: date)
      #expect(session.receive(request, at: now) == .verify(request))
    }
    _ = session.identityAccepted(request, baseToken: token, tokenWasKnown: true, at: now, date: date)
    #expect(session.receive(request, at: now) == .close(.tooManyConnects))
    let isClosed = session.isClosed
    #expect(isClosed)
  }

  @Test("the same identity may connect again; more than sixteen are too many")
  func identities() {
    var session = Table.session(in: .verifyingAnother)
    _ = session.identityAccepted(request, baseToken: token, tokenWasKnown: true, at: start, date: date)
    #expect(session.identities == [token])
    for number in 2...16 {
      #expect(session.receive(request, at: start) == .verify(request))
      _ = session.identityAccepted(
        request, baseToken: DeviceToken(loading: UInt64(number)), tokenWasKnown: true, at: start, date: date)
    }
    #expect(session.identities.count == 16)
    _ = session.receive(request, at: start)
    let action = session.identityAccepted(
      request, baseToken: DeviceToken(loading: 99), tokenWasKnown: true, at: start, date: date)
    #expect(action == .sendAndClose(connected(nil, 2), .tooManyIdentities))
    #expect(session.isClosed == true)
  }

  @Test("filters of several identities are told apart")
  func severalFilters() {
    var session = Table.session(in: .verifyingAnother)
    _ = session.identityAccepted(request, baseToken: other, tokenWasKnown: true, at: start, date: date)
    let update = FilterUpdate(baseToken: other)
    #expect(session.receive(update, at: start) == .replaceFilter(update, of: other))
  }

  @Test("a stranger has 30 seconds, however much it says; a connected device 30 minutes of silence")
  func deadlines() {
    for state in Table.State.allCases {
      var session = Table.session(in: state)
      let allowed: Int64? =
        switch state {
        case .awaitingConnect, .verifying: CourierLimits.authenticationNanoseconds
        case .established, .verifyingAnother: CourierLimits.idleNanoseconds
        case .closed: nil
        }
      #expect(session.deadline(lastHeard: start) == allowed.map { start.adding(nanoseconds: $0) })
      let late = start.adding(nanoseconds: allowed ?? .max)
      #expect(session.timePassed(at: late.adding(nanoseconds: -1), lastHeard: start) == nil)
      let reason: CourierCloseReason? =
        allowed == nil ? nil : session.isEstablished ? .idle : .authenticationTimeout
      #expect(session.timePassed(at: late, lastHeard: start) == reason)
      #expect(session.isClosed == true)
    }
    #expect(CourierLimits.idleNanoseconds > 25 * 60 * 1_000_000_000)
  }

  @Test("anything heard counts against silence, but not against the time to connect")
  func lastHeard() {
    let later = start.adding(nanoseconds: 1_000_000_000)
    let session = Table.session(in: .established)
    let silent = later.adding(nanoseconds: CourierLimits.idleNanoseconds)
    #expect(session.deadline(lastHeard: later) == silent)
    let stranger = Table.session(in: .awaitingConnect)
    let late = start.adding(nanoseconds: CourierLimits.authenticationNanoseconds)
    #expect(stranger.deadline(lastHeard: later) == late)
  }

  @Test("a stranger may send 32 KiB in all, a connected device any amount")
  func byteBudget() {
    for state in Table.State.allCases {
      var session = Table.session(in: state)
      #expect(session.bytesReceived(CourierLimits.bytesBeforeConnect) == nil)
      let isStranger = state == .awaitingConnect || state == .verifying
      #expect(session.bytesReceived(1) == (isStranger ? .tooManyBytesBeforeConnect : nil))
      #expect(session.isClosed == (isStranger || state == .closed))
    }
  }

  @Test("frames of a stranger are kept short")
  func frameLimit() {
    #expect(Table.session(in: .awaitingConnect).frameLimit == 16 * 1024)
    #expect(Table.session(in: .verifying).frameLimit == 16 * 1024)
    #expect(Table.session(in: .established).frameLimit > 64 * 1024)
  }

  @Test("only one with a phone may report, and may do so at length")
  func phones() {
    let report = PhoneReport(number: 1)
    for capability in [nil, ConnectRequest.withoutPhone, ConnectRequest.withPhone, 3] {
      var connect = request
      connect.simulatedDevice = capability
      var session = Table.session(in: .verifying)
      #expect(session.receive(report, at: start) == .nothing)
      _ = session.identityAccepted(connect, baseToken: token, tokenWasKnown: true, at: start, date: date)
      let hasPhone = capability ?? 0 >= 2
      #expect(session.hasPhone == hasPhone && session.isSimulated == (capability != nil))
      #expect(session.receive(report, at: start) == (hasPhone ? .phoneReported(report) : .nothing))
      #expect(
        session.frameLimit == (hasPhone ? CourierLimits.frameOfPhone : CourierLimits.frameAfterConnect))
    }
  }
}
