import PushModel

/// No field that APNs reads comes twice (`Documentation/provider-api.md#order-of-checks` step 1).
struct RepeatedFieldPolicy: RequestPolicy {
  /// Fields that may come twice: APNs does not read them.
  private static let harmless = ProviderFieldSet(.contentType)

  func refusal(_ context: RequestContext) -> Refusal? {
    let message = context.message
    let repeated = message.repeated.subtracting(Self.harmless)
    guard !repeated.isEmpty || message.repeatsUnknownAPNsField else { return nil }
    let names = repeated.fields.map(\.name.description).joined(separator: ", ")
    return Refusal(
      .duplicateHeaders, rule: Rule.repeatedFields, expected: "each field at most once",
      got: names.isEmpty ? "an apns- field twice" : "\(names) twice")
  }
}
