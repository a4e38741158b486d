import PushModel

/// The provider is somebody (`Documentation/provider-api.md#order-of-checks` step 3; `#environment-mismatch`,
/// `#provider-tokens`). A certificate was verified by TLS; a token is verified here.
struct AuthenticationPolicy: RequestPolicy {
  func refusal(_ context: RequestContext) -> Refusal? {
    if let checker = context.tokenChecker { return Self.check(checker, context) }
    guard case .certificate(let certificate) = context.identity else { return nil }
    return Self.check(certificate, context)
  }

  private static func check(_ certificate: ProviderCertificate, _ context: RequestContext) -> Refusal? {
    if let waiver = certificate.waiver { context.waived.append(waiver) }
    if certificate.standing?.isRevoked == true {
      let refusal = Refusal(
        .badCertificate, rule: Rule.certificate, expected: "a certificate that has not been revoked",
        got: "one that was revoked after its handshake")
      if let refusal = context.enforce(refusal) { return refusal }
    }
    if certificate.topics.isEmpty {
      let refusal = Refusal(
        .badCertificate, rule: Rule.certificate, expected: "a topic in its extension or subject UID",
        got: "none")
      return context.enforce(refusal)
    }
    guard certificate.environments.contains(context.environment) else {
      let names = certificate.environments.map(\.name).sorted().joined(separator: " and ")
      let refusal = Refusal(
        .badCertificateEnvironment, rule: Rule.certificateEnvironment,
        expected: Phrase(context.environment.name), got: names.isEmpty ? "none" : Phrase(names))
      return context.enforce(refusal)
    }
    return nil
  }

  private static func check(_ checker: any ProviderTokenChecking, _ context: RequestContext) -> Refusal? {
    guard let value = context.message[.authorization] else {
      return context.enforce(missing(got: "no authorization"))
    }
    guard let token = bearerToken(value) else {
      return context.enforce(missing(got: "an authorization of another scheme or without a token"))
    }
    switch checker.check(token, now: context.now) {
    case .granted(let grant):
      context.grant = grant
      context.hasAuthenticated = true
      if let waiver = grant.waiver { context.waived.append(waiver) }
      return nil
    case .refused(let rejection, let explanation): return context.enforce(Refusal(rejection, explanation))
    }
  }

  /// What follows `bearer` in any letter case (`Documentation/provider-api.md#request`), blanks around it left out.
  private static func bearerToken(_ value: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
    let scheme: StaticString = "bearer "
    guard value.hasPrefix(scheme, ignoringCase: true) else { return nil }
    let blank = UInt8(ascii: " ")
    var token = value[scheme.utf8CodeUnitCount...].drop { $0 == blank }
    while token.last == blank { token.removeLast() }
    return token.isEmpty ? nil : UnsafeRawBufferPointer(rebasing: token)
  }

  private static func missing(got: Phrase) -> Refusal {
    Refusal(
      .missingProviderToken, rule: Rule.authorization,
      expected: "\"bearer\" and a provider token, or a client certificate", got: got)
  }
}
