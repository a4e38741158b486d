/// What `--help` says of a command beyond its flags.
enum CommandHelp {
  /// Of the whole program, for its manual page.
  static let program = """
    One program is the emulator of Apple's push notification service (APNs), its providers and its phones. Providers connect as
    they would to Apple: over HTTP/2, or by the binary protocol that Apple switched off in 2021. Devices connect as iPhones do.
    Look at pushes in a browser, wait for them in tests, record and replay them, and inject faults.

    Start the emulator, push to a phone, which `push` creates, and run that phone:

      apns-emulator serve
      apns-emulator push phone-1 com.example.app '{"aps":{"alert":"Hello"}}'
      apns-emulator device --udid phone-1 --topic com.example.app

    The dashboard is at http://127.0.0.1:8790. Commands find a running emulator by --ports-file, else by
    APNS_EMULATOR_PORTS_FILE, else on the default ports.
    """

  static let serve = """
    Without flags, serve issues certificates if there are none and opens all listeners on loopback. What it stores survives a
    restart. The first Ctrl-C ends it in order, the second one at once. A flag overrides its environment variable, which
    overrides the --config file; `config` shows where each value comes from.
    """

  static let exec = """
    The emulator takes free ports unless you name some, and stores nothing on disk but certificates and keys unless you give
    --data. CMD finds the emulator in its environment: APNS_EMULATOR_GATEWAY, _FEEDBACK, _PROVIDER, _COURIER, _CONSOLE and
    _PROXY (host:port), APNS_EMULATOR_CA, APNS_EMULATOR_CERTS, APNS_EMULATOR_PORTS_FILE, and with --proxy also HTTPS_PROXY.
    SSL_CERT_FILE, CURL_CA_BUNDLE, REQUESTS_CA_BUNDLE and NODE_EXTRA_CA_CERTS name a file with the CAs of the emulator and of
    the system.

      apns-emulator exec -- make test
      apns-emulator exec --proxy -- make test
    """

  static let drill = """
    CMD sends one push to each token in the file APNS_EMULATOR_TOKEN_FILE, as your server sends a batch, and ends. First it runs
    without a fault. Then it runs once for each drill, against an emulator of its own with phones online and one fault. The
    table says what came of the pushes. CMD may write what it could not send into the file APNS_EMULATOR_REPORT: a line
    `TOKEN REASON` each. Its environment is that of `exec`, and APNS_EMULATOR_TOPIC, _CERT, _CERT_KEY, _P12, _KEY, _KEY_ID and
    _TEAM. The command ends with 1 if a drill fails, and with 2 if the run without a fault does.

    With --serve there is no CMD. The command prints this environment, with which you start your server, and runs until you stop
    it. POST /api/v1/drills/ID on the console begins a drill and answers with the verdict.

      apns-emulator drill -- python3 send_batch.py
      apns-emulator drill --only goaway-graceful --keep drills -- python3 send_batch.py
    """

  static let device = """
    The phone activates, connects, asks for a token of each topic, receives and acknowledges, until you stop it.

      apns-emulator device --udid phone-1 --topic com.example.app --count 1 --timeout 5
    """

  static let fleet = """
    All phones share one process and one key, and store nothing on disk unless you give --keep. The fleet ends after --duration
    or --count, or when you stop it, and reports how long pushes took. It ends with 1 if a phone never got its tokens, or if
    fewer than --count notifications came.

      apns-emulator fleet --devices 1000 --topic com.example.app --tokens tokens.txt --offline 10 --duration 5m
    """

  static let push = """
    You need neither certificate nor token: the command creates the phone, installs the app and issues a certificate if they
    are missing. Then it sends a provider's request over HTTP/2, with all of Apple's checks. An .apns file, as
    `xcrun simctl push` takes it, names its topic under "Simulator Target Bundle"; TOPIC overrides that.

      apns-emulator push phone-1 com.example.app '{"aps":{"alert":"Hello"}}'
      apns-emulator push phone-1 @order-shipped.apns
    """

  static let explain = """
    The command sends nothing and needs no emulator. Each finding and each event has a name, and a letter for its evidence: A
    is documented by Apple, M was measured and published, O is the emulator's own choice. The command ends with 1 if a finding
    is an error: Apple rejects the push, or calls it an error.

      apns-emulator explain '{"aps":{"content-available":1}}' --push-type background --priority 5
    """

  static let advice = """
    The emulator watches what providers do, and says what Apple would refuse, throttle or lose (error), what Apple advises
    against (warning), and what is worth knowing (note). Each finding says what was seen, how often, and what to do about it.
    The command ends with 1 only if you give --fail-on. `exec --advice` lists the same after a command.

      apns-emulator advice --fail-on error
    """

  static let scenario = """
    Each file has phones with apps, pushes, what people do, and what is expected. The command plays it on an emulator of its
    own, whose clock is frozen: `{"wait": "20m"}` takes no time, and every run is the same. It ends with 1 if an expectation is
    not met, and names the file, the line, what was expected and what came.

      apns-emulator scenario run Examples/Scenarios/*.json --junit report.xml
    """

  static let revoke = """
    A running emulator rejects it at once: a certificate in the handshake (certificate_revoked), a key with
    InvalidProviderToken. The command prints the file in certs/revoked that records the revocation.

      apns-emulator certs revoke --topic com.example.app
    """

  static let send = """
    Send over HTTP/2 with a token key or a push certificate, or by the binary protocol with --legacy. The command prints the
    outcome as one JSON object, and ends with 1 if the push was rejected. With --count, the rate is until the last answer; with
    --legacy, where success is silent, it is until the last byte was handed over.

      apns-emulator send --topic com.example.app --token "$(apns-emulator tokens --udid phone-1 --bare)"
    """

  static let bench = """
    The benchmark is a program of its own, apns-emulator-bench. `make bench` builds and runs it in a clone of the repository;
    packages do not contain it. If it is in the folder of apns-emulator, `apns-emulator bench --help` lists its flags.
    """

  static let clusterStatus = """
    The command shows the cluster as one node sees it; `serve --nats` makes an emulator a node. It ends with 1 while there is a
    problem, so that a script can wait.

      apns-emulator cluster status --ports-file .cluster/node-1.json
    """

  static let clusterMove = """
    Ask any node. If the other node then has more zones than its share, another zone leaves it.

      apns-emulator cluster move 3 node-2
    """

  static let clusterRepair = """
    Use it if nodes refuse to start because a zone's log has a message that no node can have written. They report its number.
    From then on, nodes pass over this message, and over messages that are missing up to the next one. Stop all nodes first.

      apns-emulator cluster repair 3 17 --nats nats://127.0.0.1:4222
    """

  static let man = """
    Pipe the page into a reader of manual pages. Packages install all pages.

      apns-emulator man serve | man -l -
    """
}
