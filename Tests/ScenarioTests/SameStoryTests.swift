import Basics
import PushModel
import Testing

/// The phones of `device`, of a scenario, of the library for tests and of a fleet, side by side on one emulator.
@Suite("The same story", .serialized)
struct SameStoryTests {
  /// What happens in a story, to all.
  enum Step: Sendable {
    case person(String)
    /// To the token that the app has for the type, or to one that was made for something.
    case push(String, type: PushType? = .alert, to: TokenContext? = nil)
    case silent(by: String)
    /// To all that have joined the channel.
    case broadcast(String)
    case remove
  }

  struct Story: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let steps: [Step]
    /// How some events of the last step begin, so that the same nothing is not enough; empty where there is none.
    let ends: [String]
  }

  private static let network = #"{"do":"settings","network":"#
  private static let start =
    #"{"aps":{"event":"start","timestamp":1,"attributes-type":"Game","attributes":{},"content-state":{},"alert":{"title":"T"},"input-push-channel":"\#(channel)"}}"#
  private static let channel = Base64.encode([1, 2, 3, 4])
  private static let activity =
    #"{"do":"activity","topic":"com.example.app","attributesType":"Game","intent":true}"#

  private static let settings = #"{"do":"settings","apps":{"com.example.app":"#

  static let stories = [
    Story(
      testDescription: "without a network pushes wait, and the last of them comes with it",
      steps: [
        .person(network + "false}"), .push(#"{"aps":{"alert":"first"}}"#),
        .push(#"{"aps":{"alert":"second"}}"#), .person(network + "true}"),
      ], ends: ["presented lock screen, list system-shows"]),
    Story(
      testDescription: "a Live Activity that a channel updates and ends",
      steps: [
        .push(start, type: .liveactivity, to: .start(attributesType: "Game")),
        .broadcast(#"{"aps":{"event":"update","timestamp":2,"content-state":{"score":1}}}"#),
        .broadcast(#"{"aps":{"event":"end","timestamp":3}}"#),
      ], ends: ["activity ended, activity-1 activity-ended"]),
    Story(
      testDescription: "an app that is removed hears nothing more",
      steps: [
        .push(#"{"aps":{"alert":"before","mutable-content":1}}"#), .remove,
        .push(#"{"aps":{"alert":"after"}}"#),
      ], ends: []),
    Story(
      testDescription: "the token of a Live Activity becomes another",
      steps: [.person(activity), .person(#"{"do":"renew-token","activity":"activity-1"}"#)],
      ends: ["token for activity-1 activity-token-changed"]),
    Story(
      testDescription: "a service extension that crashes, and one that changes the text",
      steps: [
        .person(settings + #"{"serviceExtension":{"crashes":true}}}}"#),
        .push(#"{"aps":{"alert":"Hello","mutable-content":1}}"#),
        .person(settings + #"{"serviceExtension":{"changes":{"alert":"changed"}}}}}"#),
        .push(#"{"aps":{"alert":"Hello","mutable-content":1}}"#),
      ],
      ends: [
        "extension runs extension-runs", "extension ended extension-changed", "presented lock screen, list",
      ]),
    Story(
      testDescription: "a call, by the token that the app has for calls as soon as it is set to have one",
      steps: [
        .person(settings + #"{"tokens":["voip"]}}}"#), .push(#"{"caller":"Ben"}"#, type: .voip),
      ], ends: ["call ringing"]),
    Story(
      testDescription: "silent pushes of the binary interface and without a type",
      steps: [
        .silent(by: "legacy"), .silent(by: "http2"), .person(#"{"do":"settings","strictPushType":true}"#),
        .silent(by: "legacy"),
      ], ends: ["dropped silent-type"]),
  ]

  @Test("has the same events on all phones", arguments: stories)
  func same(story: Story) throws {
    let stage = try FourPhones()
    defer { stage.end() }
    for (index, step) in story.steps.enumerated() {
      let events = try stage.play(step)
      let first = try #require(events.first)
      for other in events { #expect(other == first, "step \(index)") }
      guard index == story.steps.count - 1 else { continue }
      #expect(first.isEmpty == story.ends.isEmpty)
      for words in story.ends { #expect(first.contains { $0.hasPrefix(words) }, "\(first)") }
    }
  }

  @Test("what came while there was no network is not told before")
  func waits() throws {
    let stage = try FourPhones()
    defer { stage.end() }
    _ = try stage.play(.person(Self.network + "false}"))
    let events = try stage.play(.push(#"{"aps":{"alert":"Hello"}}"#))
    #expect(events.count == 4 && events.allSatisfy(\.isEmpty))
  }
}
