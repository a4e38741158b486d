require "http/2"
require "json"
require "openssl"
require "socket"
require "uri"

# One HTTP/2 connection, and the pushes that are under way on it.
class Connection
  GOAWAY = 7

  # What `push` was told to remember, for each push that has no answer yet.
  attr_reader :under_way

  # Takes the host, such as https://api.push.apple.com, and a file of whom to trust: nil for the system's authorities.
  def initialize(host, authorities)
    uri = URI(host)
    @context = OpenSSL::SSL::SSLContext.new
    @context.set_params(authorities ? { ca_file: authorities } : {})
    @context.alpn_protocols = ["h2"]
    @socket = OpenSSL::SSL::SSLSocket.new(TCPSocket.new(uri.host, uri.port), @context)
    @socket.hostname = uri.host
    @socket.sync_close = true
    @socket.connect
    @authority = "#{uri.host}:#{uri.port}"
    @under_way, @bytes = {}, "".b
    @http = HTTP2::Client.new
    @http.on(:frame) { |bytes| @socket.write(bytes) }
    @http.on(:frame_received) { |frame| @has_settings ||= frame[:type] == :settings }
    @http.send_connection_preface if @http.respond_to?(:send_connection_preface)
  end

  # Whether one more push may begin.
  def room?
    @has_settings && !@is_left && @under_way.size < [@http.remote_settings[:settings_max_concurrent_streams], 500].min
  end

  # After this the connection takes no more pushes: those under way may still be answered.
  def leave = @is_left = true

  def left? = @is_left

  # Begins a push. What came of it is handed over later: the status and the body, or nothing if the server refused to look at it.
  def push(device, fields, payload, remembered, &answered)
    status, body = nil, +""
    stream = @http.new_stream
    @under_way[stream.id] = remembered
    stream.on(:headers) { |headers| status ||= headers.to_h[":status"] }
    stream.on(:data) { |bytes| body << bytes }
    stream.on(:close) { answered.call(status, body) if @under_way.delete(stream.id) }
    stream.headers({ ":method" => "POST", ":scheme" => "https", ":path" => "/3/device/#{device}", ":authority" => @authority }
      .merge(fields))
    stream.data(payload)
  end

  # Waits for what the server says, at most so many seconds. Answers what is to be sent elsewhere, as it stands behind a GOAWAY.
  # Raises an error if the connection has ended.
  def receive(seconds)
    bytes = @socket.read_nonblock(16_384, exception: false)
    if bytes == :wait_readable
      IO.select([@socket], nil, nil, seconds) or raise Errno::ETIMEDOUT
      return []
    end
    raise EOFError, "the connection has ended" if bytes.nil?
    @bytes << bytes
    take_frames
  end

  def close
    @socket.close
  rescue SystemCallError, OpenSSL::SSL::SSLError
    nil
  end

  private

  # Hands whole frames to the library, but not GOAWAY, behind which it would drop the answers that are still to come.
  def take_frames
    unread = []
    while @bytes.bytesize >= 9 && @bytes.bytesize >= (size = 9 + ("\0".b + @bytes.byteslice(0, 3)).unpack1("N"))
      frame = @bytes.slice!(0, size)
      if frame.getbyte(3) == GOAWAY
        leave
        last = frame.byteslice(9, 4).unpack1("N") & 0x7fffffff
        above = @under_way.keys.select { |stream| stream > last }
        unread += above.map { |stream| @under_way.delete(stream) }
      else
        @http << frame
      end
    end
    unread
  end
end
