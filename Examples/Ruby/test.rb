# Run by `apns-emulator exec`, which tells in the environment where the emulator is.
require "minitest/autorun"
require "net/http"
require "tmpdir"
require_relative "sender"

class SenderTest < Minitest::Test
  TOPIC = "com.example.app"
  HELLO = '{"aps":{"alert":"Hello"}}'

  def test_a_batch_reaches_every_phone_and_tells_who_is_none
    phones(30)
    bad = "17" * 32
    assert_equal all(Sender::SENT).merge(bad => "BadDeviceToken"), sender.push_all([*@tokens, bad], HELLO)
    assert_equal all(1), accepted
  end

  def test_the_command_tells_the_outcome_of_each_token
    phones(2)
    key = api(:Post, "/keys", { team: "TEAM123456" })
    Dir.mktmpdir do |folder|
      File.write(file = File.join(folder, "tokens"), [*@tokens, "17" * 32].join("\n"))
      File.write(p8 = File.join(folder, "key.p8"), key["p8"])
      settings = {
        "APNS_HOST" => host, "APNS_TOPIC" => TOPIC, "APNS_CA" => ENV.fetch("APNS_EMULATOR_CA"), "APNS_KEY" => p8,
        "APNS_KEY_ID" => key["keyId"], "APNS_TEAM" => key["team"] }
      printed = IO.popen([settings, "ruby", File.join(__dir__, "sender.rb"), file], &:readlines)
      assert_equal [*@tokens.map { |token| "#{token} sent\n" }, "#{'17' * 32} BadDeviceToken\n"], printed
    end
  end

  # What a good sender sends again, so that it arrives all the same.
  {
    "a connection ends with goaway" => { goaway: {} }, "a stream is refused" => { rstStream: 7 },
    "a server shuts down" => { reason: "Shutdown" }, "a provider token has expired" => { reason: "ExpiredProviderToken" },
    "a phone got too many" => { reason: "TooManyRequests" }
  }.each do |where, effect|
    define_method("test_nothing_is_lost_or_doubled_where_#{where}".tr(" ", "_")) do
      outcomes = sent_with(effect)
      assert_equal all(Sender::SENT), outcomes
      assert_equal all(1), accepted
    end
  end

  def test_nothing_is_lost_where_a_connection_is_reset
    outcomes = sent_with({ reset: true })
    assert_equal all(Sender::SENT), outcomes
    # Some twice: nobody knows what was sent.
    assert_equal @tokens.sort, accepted.keys.sort
  end

  def test_a_busy_service_is_told
    phones(1)
    api(:Post, "/faults", { name: "busy", effect: { reason: "ServiceUnavailable" } })
    assert_equal all("ServiceUnavailable"), sender.push_all(@tokens, HELLO)
    assert_equal 1, api(:Get, "/notifications")["notifications"].size
  end

  private

  # Device tokens of this many phones, on an emulator that has seen nothing else.
  def phones(count)
    api(:Post, "/reset", {})
    @tokens = Array.new(count) { |number| api(:Post, "/devices/phone-#{number}/apps/#{TOPIC}/install", {})["token"] }
  end

  # The outcomes of a batch to thirty phones, with this fault for one of them.
  def sent_with(effect)
    phones(30)
    api(:Post, "/faults",
      { name: "one", match: { interface: "provider", token: @tokens[10] }, when: { next: 1 }, effect: effect })
    sender.push_all(@tokens, HELLO)
  end

  def sender
    key = api(:Post, "/keys", { team: "TEAM123456" })
    Sender.new(
      host: host, topic: TOPIC, token: ProviderToken.new(key["p8"], key["keyId"], key["team"]),
      authorities: ENV.fetch("APNS_EMULATOR_CA"))
  end

  def host = "https://localhost:#{ENV.fetch('APNS_EMULATOR_PROVIDER').split(':').last}"

  def all(outcome) = @tokens.to_h { |token| [token, outcome] }

  # How often a push to each device token was accepted.
  def accepted
    pushes = api(:Get, "/notifications?limit=1000")["notifications"]
    pushes.select { |push| push["verdict"]["accepted"] }.map { |push| push["token"] }.tally
  end

  def api(method, path, body = nil)
    uri = URI("http://#{ENV.fetch('APNS_EMULATOR_CONSOLE')}/api/v1#{path}")
    request = Net::HTTP.const_get(method).new(uri, { "content-type" => "application/json" })
    request.body = body.to_json if body
    answer = Net::HTTP.start(uri.host, uri.port) { |http| http.request(request) }
    raise answer.body unless answer.is_a?(Net::HTTPSuccess)
    JSON.parse(answer.body)
  end
end
