import Broker
import PushModel

/// The shapes of saved states.
extension APISchemas {
  static var savedState: [(String, JSONValue)] {
    [
      ("State", SavedState.form.schema), ("SavedApp", SavedApp.form.schema),
      ("SavedKey", SavedKey.form.schema),
      ("SavedDevice", SavedDevice.form.schema), ("SavedRow", SavedRow.form.schema),
      ("SavedMessage", SavedMessage.form.schema), ("SavedChannel", SavedChannel.form.schema),
      ("SavedSubscriber", SavedSubscriber.form.schema),
      (
        "Imported",
        object([
          (
            "imported",
            object([
              ("apps", whole), ("keys", whole), ("devices", whole), ("tokens", whole), ("messages", whole),
              ("channels", whole), ("subscriptions", whole), ("faults", whole),
            ])
          )
        ])
      ),
    ]
  }
}
