require "timeout"

require_relative "connection"
require_relative "provider_token"

# Pushes over HTTP/2 with a provider token, many at once on one connection.
class Sender
  # The outcome of a push that was accepted. Any other is Apple's reason, or what became of the connection.
  SENT = "sent"

  # How often a push is tried, and the pause after a connection that failed, which doubles.
  TRIES = 5
  FIRST_PAUSE = 0.2
  # Seconds to wait for any answer.
  PATIENCE = 20

  Push = Struct.new(:device, :tries)

  # Takes the host, such as https://api.push.apple.com, the app's bundle id, and a file of whom to trust: nil for the system's authorities.
  def initialize(host:, topic:, token:, authorities: nil)
    @host, @topic, @token, @authorities = host, topic, token, authorities
  end

  # Pushes one payload to many device tokens, and answers the outcome of each.
  def push_all(devices, payload)
    @outcomes, @later = {}, []
    @waiting = devices.map { |device| Push.new(device, 0) }
    pause = FIRST_PAUSE
    until @waiting.empty? && @later.empty?
      answered = @outcomes.size
      begin
        use(Timeout.timeout(PATIENCE) { Connection.new(@host, @authorities) }, payload)
      rescue IOError, SystemCallError, SocketError, Timeout::Error, OpenSSL::SSL::SSLError, HTTP2::Error::Error => error
        # The device tokens that were not pushed to on this connection lose a try, too: it may be that none can be opened.
        @waiting.each { |push| push.tries += 1 } if @outcomes.size == answered
        give_up(error.message)
        sleep(pause) unless @waiting.empty?
        pause = @outcomes.size == answered ? pause * 2 : FIRST_PAUSE
      end
    end
    @outcomes.sort_by { |device, _| devices.index(device) }.to_h
  end

  private

  # Pushes until all is answered, or the connection takes no more. What has no answer then waits for the next one: sent, or not,
  # nobody knows. A collapse id would make a second one harmless.
  def use(connection, payload)
    until @waiting.empty? && @later.empty? && connection.under_way.empty?
      wake
      push(connection, @waiting.shift, payload) while connection.room? && !@waiting.empty?
      break if connection.left? && connection.under_way.empty?
      begin
        @waiting = connection.receive(@later.empty? ? PATIENCE : 0.1) + @waiting
      rescue Errno::ETIMEDOUT
        raise if @later.empty?
      end
    end
  ensure
    @waiting = connection.under_way.values + @waiting
    connection.close
  end

  def push(connection, push, payload)
    bearer = @token.text
    push.tries += 1
    fields = { "authorization" => "bearer #{bearer}", "apns-topic" => @topic, "apns-push-type" => "alert" }
    connection.push(push.device, fields, payload, push) do |status, body|
      settle(push, status, status.nil? || body.empty? ? nil : JSON.parse(body)["reason"], bearer, connection)
    end
  end

  # Tries again where that may help at once or soon. 500 and 503 are told: Apple asks to come back after a quarter of an hour.
  def settle(push, status, reason, bearer, connection)
    return @outcomes[push.device] = SENT if status == "200"
    return @outcomes[push.device] = reason if push.tries >= TRIES
    case reason
    when nil
      @waiting << push
    when "Shutdown"
      # One server of many stops: the next connection is to another.
      connection.leave
      @waiting << push
    when "ExpiredProviderToken"
      @token.renew(bearer)
      @waiting << push
    when "TooManyRequests", "TooManyProviderTokenUpdates"
      @later << [Process.clock_gettime(Process::CLOCK_MONOTONIC) + FIRST_PAUSE * 2**push.tries, push]
    else
      @outcomes[push.device] = reason
    end
  end

  # What waited long enough.
  def wake
    now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    due, @later = @later.partition { |at, _| at <= now }
    @waiting.concat(due.map(&:last))
  end

  def give_up(why)
    lost, @waiting = @waiting.partition { |push| push.tries >= TRIES }
    lost.each { |push| @outcomes[push.device] = why }
  end
end

# A command: pushes {"aps":{"alert":"Hello"}} to each device token of a file, one a line, and prints the outcome of each.
#
#   APNS_HOST     https://api.push.apple.com
#   APNS_TOPIC    the app's bundle id
#   APNS_CA       whom to trust; the system's authorities if empty
#   APNS_KEY, APNS_KEY_ID, APNS_TEAM      token key (.p8), its id and team
if $PROGRAM_NAME == __FILE__
  abort "usage: ruby sender.rb TOKENS" unless ARGV.size == 1
  token = ProviderToken.new(File.read(ENV.fetch("APNS_KEY")), ENV.fetch("APNS_KEY_ID"), ENV.fetch("APNS_TEAM"))
  sender = Sender.new(host: ENV.fetch("APNS_HOST"), topic: ENV.fetch("APNS_TOPIC"), token: token, authorities: ENV["APNS_CA"])
  outcomes = sender.push_all(File.readlines(ARGV.first, chomp: true).reject(&:empty?), '{"aps":{"alert":"Hello"}}')
  outcomes.each { |device, outcome| puts "#{device} #{outcome}" }
  exit outcomes.values.all?(Sender::SENT)
end
