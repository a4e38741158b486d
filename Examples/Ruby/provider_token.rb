require "base64"
require "json"
require "openssl"

# Signs with a token key (.p8), and keeps what it has signed for all pushes until it is old.
class ProviderToken
  # Apple refuses provider tokens that are older than an hour, and providers that make new ones more often than every 20 minutes.
  LIFETIME = 50 * 60

  def initialize(p8, key_id, team_id)
    @key = OpenSSL::PKey.read(p8)
    @key_id, @team_id = key_id, team_id
    @signed_at = -LIFETIME
  end

  # The token that is good now.
  def text
    now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    @text, @signed_at = sign, now if @text.nil? || now - @signed_at >= LIFETIME
    @text
  end

  # Gives up a token that has expired, unless that was done for another push already.
  def renew(expired)
    @text = nil if @text == expired
  end

  private

  def sign
    unsigned = "#{part({ alg: 'ES256', kid: @key_id }.to_json)}.#{part({ iss: @team_id, iat: Time.now.to_i }.to_json)}"
    # OpenSSL puts the two numbers of a signature into ASN.1; here they are to stand side by side.
    numbers = OpenSSL::ASN1.decode(@key.sign("SHA256", unsigned)).value.map { |number| number.value.to_s(2).rjust(32, "\0") }
    "#{unsigned}.#{part(numbers.join)}"
  end

  def part(bytes) = Base64.urlsafe_encode64(bytes, padding: false)
end
