/// What `--help` says of a command beyond its flags.
enum CommandHelp {
  /// Of the whole program, for its manual page.
  static let program = """
    One program is an emulator of Apple's push service, its providers and its phones. Providers connect as they would to Apple,
    by HTTP/2 or by the binary protocol that Apple switched off in 2021; devices connect as iPhones do. What happened in between
    can be looked at in a browser, waited for, recorded, replayed, and broken on purpose.

    Start it, and push to a phone that is made on the way:

      apns-emulator serve
      apns-emulator push phone-1 com.example.app '{"aps":{"alert":"Hello"}}'
      apns-emulator device --udid phone-1 --topic com.example.app

    Its dashboard is then at http://127.0.0.1:8790. Commands that talk to a running emulator find it by --ports-file, else by
    APNS_EMULATOR_PORTS_FILE, else on the default ports.
    """

  static let serve = """
    Without flags: certificates are made if absent, all listeners open on loopback, what is kept for devices survives a
    restart. The first Ctrl-C ends it in order, the second at once. A flag beats its environment variable, that beats the
    --config file; `config` shows where each value came from.
    """

  static let exec = """
    Ports that are not given are free ones, and nothing but certificates is on disk unless --data is given. CMD finds the
    emulator in its environment: APNS_EMULATOR_GATEWAY, _FEEDBACK, _PROVIDER, _COURIER, _CONSOLE and _PROXY (host:port),
    APNS_EMULATOR_CA, APNS_EMULATOR_CERTS, APNS_EMULATOR_PORTS_FILE; with --proxy also HTTPS_PROXY. SSL_CERT_FILE,
    CURL_CA_BUNDLE, REQUESTS_CA_BUNDLE and NODE_EXTRA_CA_CERTS name our CA and the system's in one file.

      apns-emulator exec -- make test
      apns-emulator exec --proxy -- make test
    """

  static let device = """
    It activates, connects, asks for a token of each topic, receives and acknowledges, until it is signalled.

      apns-emulator device --udid phone-1 --topic com.example.app --count 1 --timeout 5
    """

  static let fleet = """
    One process and one key for all of them; nothing of theirs is on disk unless --keep is given. Ends by itself with --duration
    or --count, else when it is signalled, and says how long pushes took. Ends with 1 if a phone never got its tokens, or
    fewer than --count notifications came.

      apns-emulator fleet --devices 1000 --topic com.example.app --tokens tokens.txt --offline 10 --duration 5m
    """

  static let push = """
    Neither certificate nor token is needed: a phone or app that is not known is installed first, and a certificate is issued
    if there is none. What is sent then is a provider's request over HTTP/2, with all of Apple's checks. An .apns file, as
    `xcrun simctl push` takes it, names its topic under "Simulator Target Bundle"; TOPIC beats that.

      apns-emulator push phone-1 com.example.app '{"aps":{"alert":"Hello"}}'
      apns-emulator push phone-1 @order-shipped.apns
    """

  static let explain = """
    Sends nothing and needs no emulator. Each finding and each event has a name, and a letter for how it is known: A is
    Apple's documentation, M was measured and published, O is our own choice because nobody knows. Ends with 1 if there is an
    error, as Apple would refuse the push or says that it is one.

      apns-emulator explain '{"aps":{"content-available":1}}' --push-type background --priority 5
    """

  static let scenario = """
    Each file is a story: phones with apps, what a provider pushes, what people do, and what is expected of it. It is played on
    an emulator of its own whose clock stands still, so that `{"wait": "20m"}` takes no time and every run is the same. Ends
    with 1 if something is not as expected, and names file, line, what was expected and what came.

      apns-emulator scenario run Examples/Scenarios/*.json --junit report.xml
    """

  static let revoke = """
    A running emulator refuses it at once: a certificate in the handshake (certificate_revoked), a key with
    InvalidProviderToken. Prints the file in certs/revoked that says so.

      apns-emulator certs revoke --topic com.example.app
    """

  static let send = """
    Over HTTP/2 with a token key or a push certificate, or by the binary protocol with --legacy. Prints the outcome as one
    JSON object; ends with 1 if the push was rejected.

      apns-emulator send --topic com.example.app --token "$(apns-emulator tokens --udid phone-1 --bare)"
    """

  static let bench = """
    A program of its own, apns-emulator-bench, that is built and run by `make bench` in a clone of the repository; packages come
    without it. Where it lies beside apns-emulator, `apns-emulator bench --help` lists its flags.
    """

  static let clusterStatus = """
    Of the cluster as the node that is asked sees it; `serve --nats` makes an emulator a node. Ends with 1 while something is not
    right, so that a script can wait.

      apns-emulator cluster status --ports-file .cluster/node-1.json
    """

  static let clusterMove = """
    Any node may be asked. If one has more zones than its share then, another zone leaves it.

      apns-emulator cluster move 3 node-2
    """

  static let clusterRepair = """
    For a zone's log that has what no node can have written: nodes end there, and say which message it is. From then on they pass
    over it, and over what is missing up to the next. Stop all nodes first.

      apns-emulator cluster repair 3 17 --nats nats://127.0.0.1:4222
    """

  static let man = """
    For a reader of manual pages, which is what to pipe it into. Packages have them all installed.

      apns-emulator man serve | man -l -
    """
}
