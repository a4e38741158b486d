# The gem http-2 as its example client uses it, with a stream for each device token.
require "base64"
require "http/2"
require "json"
require "openssl"
require "socket"

def setting(name) = ENV.fetch("APNS_EMULATOR_#{name}")

tokens = File.readlines(setting("TOKEN_FILE")).map { |line| line.split.first }
report = File.open(setting("REPORT"), "w")
part = ->(bytes) { Base64.urlsafe_encode64(bytes, padding: false) }
unsigned = "#{part.({ alg: 'ES256', kid: setting('KEY_ID') }.to_json)}.#{part.({ iss: setting('TEAM'), iat: Time.now.to_i }.to_json)}"
# As OpenSSL makes it, in ASN.1, which Apple takes too.
bearer = "#{unsigned}.#{part.(OpenSSL::PKey.read(File.read(setting('KEY'))).sign('SHA256', unsigned))}"

context = OpenSSL::SSL::SSLContext.new
context.set_params(ca_file: setting("CA"))
context.alpn_protocols = ["h2"]
socket = OpenSSL::SSL::SSLSocket.new(TCPSocket.new("localhost", setting("PROVIDER").split(":").last), context)
socket.hostname = "localhost"
socket.connect

client = HTTP2::Client.new
client.on(:frame) { |bytes| socket.write(bytes) }
waiting = tokens.dup
begin
  tokens.each do |token|
    stream, status, body = client.new_stream, nil, +""
    stream.on(:headers) { |fields| status ||= fields.to_h[":status"] }
    stream.on(:data) { |bytes| body << bytes }
    stream.on(:close) do |error|
      waiting.delete(token)
      report.puts "#{token} #{body.empty? ? error : body}" unless status == "200"
    end
    stream.headers({
      ":method" => "POST", ":scheme" => "https", ":path" => "/3/device/#{token}", ":authority" => "localhost",
      "authorization" => "bearer #{bearer}", "apns-topic" => setting("TOPIC"), "apns-push-type" => "alert"
    })
    stream.data({ aps: { alert: "Hello" } }.to_json)
  end
  client << socket.read_nonblock(1024) until waiting.empty? || socket.closed? || socket.eof?
ensure
  waiting.each { |token| report.puts "#{token} no answer" }
end
