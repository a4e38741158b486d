# A provider on http-2, the engine below several Ruby libraries. Like them it names no protocol in the handshake, begins
# with the preface, sends `host` instead of `:authority`, and signs in the form that OpenSSL makes (ASN.1 DER).
require "base64"
require "http/2"
require "json"
require "openssl"
require "socket"

task = JSON.parse($stdin.read)
part = ->(bytes) { Base64.urlsafe_encode64(bytes, padding: false) }
signed = part.({ alg: "ES256", kid: task["keyId"] }.to_json) + "." +
         part.({ iss: task["team"], iat: Time.now.to_i }.to_json)
token = signed + "." + part.(OpenSSL::PKey.read(File.read(task["key"])).sign("SHA256", signed))

context = OpenSSL::SSL::SSLContext.new
context.set_params(verify_mode: OpenSSL::SSL::VERIFY_PEER)
tls = OpenSSL::SSL::SSLSocket.new(TCPSocket.new("localhost", task["port"]), context)
tls.hostname = "localhost"
tls.connect

client = HTTP2::Client.new
client.on(:frame) { |bytes| tls.write(bytes) }
counts = Hash.new(0)
waiting = task["tokens"].each_with_index.to_a
answered = 0

push = lambda do
  device, number = waiting.shift
  next unless device
  status, body = nil, +""
  stream = client.new_stream
  stream.on(:headers) { |fields| status ||= fields.to_h[":status"] }
  stream.on(:data) { |bytes| body << bytes }
  stream.on(:close) do
    counts[status == "200" ? status : JSON.parse(body)["reason"]] += 1
    answered += 1
    push.call
  end
  stream.headers({
    ":method" => "POST", ":scheme" => "https", ":path" => "/3/device/#{device}", "host" => "localhost",
    "authorization" => "bearer #{token}", "apns-topic" => task["topic"], "apns-push-type" => "alert"
  })
  stream.data({ aps: { alert: number.to_s } }.to_json)
end

push.call
client << tls.readpartial(16_384) while answered < task["tokens"].size
tls.close
puts counts.to_json
