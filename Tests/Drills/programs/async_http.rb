# The gem async-http: one client, a task for each device token.
require "async"
require "async/barrier"
require "async/http/client"
require "async/http/endpoint"
require "base64"
require "json"
require "openssl"

def setting(name) = ENV.fetch("APNS_EMULATOR_#{name}")

tokens = File.readlines(setting("TOKEN_FILE")).map { |line| line.split.first }
report = File.open(setting("REPORT"), "w")
part = ->(bytes) { Base64.urlsafe_encode64(bytes, padding: false) }
unsigned = "#{part.({ alg: 'ES256', kid: setting('KEY_ID') }.to_json)}.#{part.({ iss: setting('TEAM'), iat: Time.now.to_i }.to_json)}"
bearer = "#{unsigned}.#{part.(OpenSSL::PKey.read(File.read(setting('KEY'))).sign('SHA256', unsigned))}"

context = OpenSSL::SSL::SSLContext.new
context.set_params(ca_file: setting("CA"))
context.alpn_protocols = ["h2"]
endpoint = Async::HTTP::Endpoint.parse("https://localhost:#{setting('PROVIDER').split(':').last}", ssl_context: context)
Async do
  client = Async::HTTP::Client.new(endpoint)
  barrier = Async::Barrier.new
  tokens.each do |token|
    barrier.async do
      fields = [["authorization", "bearer #{bearer}"], ["apns-topic", setting("TOPIC")], ["apns-push-type", "alert"]]
      answer = client.post("/3/device/#{token}", fields, [{ aps: { alert: "Hello" } }.to_json])
      body = answer.read
      report.puts "#{token} #{body || 'no answer'}" unless answer.status == 200
    rescue StandardError => error
      report.puts "#{token} #{error.class}: #{error.message.tr("\n", ' ')}"
    end
  end
  barrier.wait
ensure
  client&.close
end
