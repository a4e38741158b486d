/// Turns frames of the plain form into the packed one (`Documentation/device-protocol.md#packed-form`), and keeps the
/// caches of its direction. Frames must leave in the order in which they were packed.
public struct PackEncoder {
  private var caches: PackCaches

  /// `cacheByteCount` is the size of the value cache, in bytes.
  public init(cacheByteCount: Int = PackLimits.cacheByteCount) {
    caches = PackCaches(capacity: cacheByteCount)
  }

  /// Packs whole frames of our own making.
  public mutating func pack(_ frames: [UInt8]) -> [UInt8] {
    var output: [UInt8] = []
    var decoder = CourierDecoder()
    var input = frames.span
    do throws(CourierProtocolError) {
      while let frame = try decoder.next(
        &input, limit: .max, { frame throws(CourierProtocolError) in try packed(frame) })
      {
        output += frame
      }
    } catch {
      assertionFailure("a frame of our own can't be read: \(error)")
    }
    return output
  }

  private mutating func packed(_ frame: CourierFrame) throws(CourierProtocolError) -> [UInt8] {
    var body: [UInt8] = []
    var items = frame.items
    while let item = try items.next() { append(item, frame.commandByte, to: &body) }
    var output = [frame.commandByte]
    Self.append(body.count, tag: 0, bits: 8, to: &output)
    return output + body
  }

  private mutating func append(_ item: CourierItemView, _ command: UInt8, to body: inout [UInt8]) {
    let value = Self.value(item, command)
    guard CourierCommand.packing(of: item.id, in: command).isCached, caches.fits(value) else {
      appendKey(item.id, flags: 0, to: &body)
      body += value
      return
    }
    if let index = caches.index(ofValue: value) {
      appendKey(item.id, flags: PackTag.isReference, to: &body)
      Self.append(index, tag: 0, bits: 8, to: &body)
    } else {
      appendKey(item.id, flags: PackTag.isCached, to: &body)
      body += value
      caches.add(value: value)
    }
  }

  private mutating func appendKey(_ id: UInt8, flags: UInt8, to body: inout [UInt8]) {
    if id <= PackTag.itemId {
      body.append(flags | id)
    } else if let index = caches.index(ofKey: [id]) {
      body.append(flags | PackTag.isKeyReference | UInt8(index))
    } else {
      // One byte: its length less one is 0.
      body += [flags | PackTag.isNewKey, id]
      caches.add(key: [id])
    }
  }

  private static func value(_ item: CourierItemView, _ command: UInt8) -> [UInt8] {
    guard CourierCommand.packing(of: item.id, in: command).width == item.value.count else {
      return data(item.bytes)
    }
    let digits = item.bytes.drop { $0 == 0 }
    guard digits.count > 1 || digits.first ?? 0 > 31 else { return [0x80 | (digits.first ?? 0)] }
    return [0xa0 | UInt8(digits.count - 1)] + digits
  }

  private static func data(_ bytes: [UInt8]) -> [UInt8] {
    var output: [UInt8] = []
    append(bytes.count, tag: 0, bits: 6, to: &output)
    return output + bytes
  }

  /// A number that begins in the low `bits` of a tag.
  public static func append(_ number: Int, tag: UInt8, bits: Int, to output: inout [UInt8]) {
    let full = (1 << bits) - 1
    guard number >= full else { return output.append(tag | UInt8(number)) }
    output.append(tag | UInt8(full))
    var rest = number - full
    while rest > 0x7f {
      output.append(UInt8(rest & 0x7f) | 0x80)
      rest >>= 7
    }
    output.append(UInt8(rest))
  }
}

extension CourierCommand {
  /// How an item is written: as the form of its command has it.
  static func packing(of item: UInt8, in command: UInt8) -> CourierItemPacking {
    CourierCommand(rawValue: command)?.packing(of: item) ?? CourierItemPacking()
  }

  private func packing(of item: UInt8) -> CourierItemPacking? {
    switch self {
    case .connect: ConnectRequest.form.packing(of: item)
    case .connected: ConnectedResponse.form.packing(of: item)
    case .filter: FilterUpdate.form.packing(of: item)
    case .message: CourierMessage.form.packing(of: item)
    case .acknowledgement: Acknowledgement.form.packing(of: item)
    case .noStorage: NoStorage.form.packing(of: item)
    case .appTokenRequest: AppTokenRequest.form.packing(of: item)
    case .appTokenResponse: AppTokenResponse.form.packing(of: item)
    case .setState: SetState.form.packing(of: item)
    case .channels: ChannelConfirmation.form.packing(of: item)
    case .appState: AppStateChange.form.packing(of: item)
    case .phoneOrder: PhoneOrderCommand.form.packing(of: item)
    case .phoneReport: PhoneReport.form.packing(of: item)
    case .keepAlive, .keepAliveAnswer, .flush, .flushAnswer, .setActiveInterval: nil
    }
  }
}
