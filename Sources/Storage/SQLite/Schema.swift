/// The tables, and the number under which this program knows their shape.
public enum Schema {
  /// Counts changes of the tables; SQLite keeps it as `user_version`.
  public static let version = Int64(steps.count) + 1
  /// Marks a file as ours: `apns` in ASCII, as SQLite's `application_id`.
  static let applicationId: Int64 = 0x6170_6e73

  /// Row ids are the registry's row numbers, so that no other index is needed.
  private static let firstTables = """
    CREATE TABLE topic (id INTEGER PRIMARY KEY, hash BLOB NOT NULL, name TEXT);
    CREATE TABLE device (
      id INTEGER PRIMARY KEY, udid TEXT NOT NULL, identity INTEGER NOT NULL, key BLOB NOT NULL,
      firstSeenAt INTEGER NOT NULL, lastSeenAt INTEGER NOT NULL);
    CREATE TABLE registration (
      id INTEGER PRIMARY KEY, token BLOB NOT NULL, device INTEGER NOT NULL, topic INTEGER NOT NULL,
      install INTEGER NOT NULL, environment INTEGER NOT NULL, abandoned INTEGER NOT NULL,
      feedback INTEGER NOT NULL, issuedAt INTEGER NOT NULL, goneAt INTEGER NOT NULL);
    CREATE TABLE message_log (segment INTEGER PRIMARY KEY, entries BLOB NOT NULL);
    PRAGMA application_id = \(applicationId);
    """

  /// Came with version 2. A channel whose `broadcast` is 0 keeps none.
  private static let channelTables = """
    CREATE TABLE channel (
      id INTEGER PRIMARY KEY, topic INTEGER NOT NULL, environment INTEGER NOT NULL, name BLOB NOT NULL,
      stores INTEGER NOT NULL, broadcast INTEGER NOT NULL, priority INTEGER NOT NULL, sentAt INTEGER NOT NULL,
      expiresAt INTEGER NOT NULL, expiry INTEGER NOT NULL, payload BLOB NOT NULL);
    CREATE TABLE subscription (
      channel INTEGER NOT NULL, device INTEGER NOT NULL, seenUntil INTEGER NOT NULL,
      PRIMARY KEY (channel, device)) WITHOUT ROWID;
    """

  /// Came with version 3.
  private static let pendingForwardTable = """
    CREATE TABLE pending_forward (
      id INTEGER PRIMARY KEY, frame BLOB NOT NULL, topic TEXT NOT NULL, environment INTEGER NOT NULL,
      apnsId TEXT NOT NULL, receivedAt INTEGER NOT NULL);
    """

  /// Some stores of version 2 had it before it belonged to a version.
  private static let foreignFeedbackTable = """
    CREATE TABLE IF NOT EXISTS foreign_feedback (
      id INTEGER PRIMARY KEY, token BLOB NOT NULL, topic INTEGER NOT NULL, environment INTEGER NOT NULL,
      goneAt INTEGER NOT NULL);
    """

  /// Came with version 4: the last column of each table (`RowCheck`), empty in rows that were there before.
  private static let rowChecks =
    foreignFeedbackTable
    + [
      "topic", "device", "registration", "message_log", "channel", "subscription", "foreign_feedback",
      "pending_forward",
    ].map { "\nALTER TABLE \($0) ADD COLUMN rowCheck INTEGER;" }.joined()

  /// Version 5 only lets entries of the notification log have more in them (`NotificationEntry`): those of before can be read as
  /// they are, and say `alert` where nothing was said.
  private static let fullerEntries = ""

  /// Came with version 6: of those rows of the token map that stand for one context of their topic.
  private static let contextTable = """
    CREATE TABLE token_context (id INTEGER PRIMARY KEY, context TEXT NOT NULL, rowCheck INTEGER);
    """

  /// Came with version 7: of those rows of the token map whose token somebody chose.
  private static let customTable = """
    CREATE TABLE IF NOT EXISTS chosen_token (id INTEGER PRIMARY KEY, token BLOB NOT NULL, rowCheck INTEGER);
    """

  /// What makes a file of each earlier version one of the next; the first is for version 1.
  static let steps = [
    channelTables, pendingForwardTable, rowChecks, fullerEntries, contextTable, customTable,
  ]

  /// Before the first statement that reads the file; they change nothing of one that is there.
  ///
  /// - One process only: an exclusive lock, taken once, instead of shared memory and locks in each turn.
  static let opening = """
    PRAGMA page_size = 8192;
    PRAGMA locking_mode = EXCLUSIVE;
    """

  /// Once the file is known to be ours, or new.
  ///
  /// - No zeroing of freed pages (Debian's default): nothing here is secret, and it would double the writing.
  static let settings = """
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = NORMAL;
    PRAGMA secure_delete = OFF;
    PRAGMA cache_size = -32768;
    PRAGMA wal_autocheckpoint = \(checkpointPages);
    """

  /// Pages in the write-ahead log after which a turn writes them back and waits for the disk, as a count: 4 MiB. A wait
  /// grows with it and comes rarer; the sum stays about the same.
  static let checkpointPages = 512

  /// Makes the tables of a new file, adds those that a file of an earlier version lacks, or refuses a file that is not ours and
  /// leaves it as it is.
  static func prepare(_ database: Database) throws(StoreError) {
    try database.execute(opening)
    // Takes the exclusive lock now, not in the first turn.
    try database.execute("BEGIN EXCLUSIVE")
    let version = try version(of: database)
    try database.execute("COMMIT")
    try database.execute(settings)
    try database.execute("BEGIN EXCLUSIVE")
    if version == nil { try database.execute(firstTables) }
    try migrate(database, from: version ?? 1)
    try database.execute("COMMIT")
  }

  /// The version of a file that is ours; nil for a new one.
  private static func version(of database: Database) throws(StoreError) -> Int64? {
    let version = try database.integer("PRAGMA user_version")
    let owner = try database.integer("PRAGMA application_id")
    let tables = try database.integer("SELECT count(*) FROM sqlite_schema")
    if version == 0, owner == 0, tables == 0 { return nil }
    guard owner == applicationId else {
      throw StoreError(code: .notADatabase, sentence: "\(database.path) is a database of another program")
    }
    guard version > 0 else {
      throw StoreError(
        code: .damaged,
        sentence:
          "the store \(database.path) is damaged: expected a schema from 1 to \(Self.version), got \(version)"
      )
    }
    guard version <= Self.version else {
      throw StoreError(
        code: .newerVersion,
        sentence:
          "the store \(database.path) was written by a newer version of apns-emulator: expected schema \(Self.version) or older, got \(version)"
      )
    }
    return version
  }

  /// Brings a file of an earlier version to this one, in the transaction that opened it.
  private static func migrate(_ database: Database, from version: Int64) throws(StoreError) {
    guard version < Self.version else { return }
    for step in steps.dropFirst(Int(version) - 1) { try database.execute(step) }
    try database.execute("PRAGMA user_version = \(Self.version)")
  }
}
