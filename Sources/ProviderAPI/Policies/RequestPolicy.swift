/// One rule that a request has to keep.
protocol RequestPolicy {
  /// Why the request breaks the rule, or nil. What the rule read out of the request it leaves in the context.
  func refusal(_ context: RequestContext) -> Refusal?
}
