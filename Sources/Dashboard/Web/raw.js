/* Bytes as they came; the fields of a binary frame are marked (Documentation/binary-protocol.md, Frames). */
import { button, empty, h, isNarrow } from './dom.js';
import { bytesOf, dateTime, hexOf, short } from './format.js';
import { copy } from './notices.js';

const itemNames = { 1: 'device token', 2: 'payload', 3: 'identifier', 4: 'expiration', 5: 'priority' };
const number = bytes => bytes.reduce((value, byte) => value * 256 + byte, 0);

/* Fields of a frame: {start, count, name, value, color}. What is cut off or unknown stays unmarked. */
export function frameFields(bytes) {
  const fields = [];
  let at = 0;
  const take = (count, name, value, color) => {
    const part = bytes.slice(at, at + count);
    fields.push({ start: at, count: part.length, name, value: value ? value(part) : '', color });
    at += count;
    return part;
  };
  const counted = (name, color, value) => {
    const length = number(take(2, `${name} length`, part => `${number(part)} bytes`, 6));
    take(length, name, value, color);
  };
  const command = take(1, 'command', part => String(part[0]), 1)[0];
  if (command === 2) {
    take(4, 'frame length', part => `${number(part)} bytes`, 6);
    while (at < bytes.length) {
      const id = take(1, 'item', part => `${part[0]} ${itemNames[part[0]] || 'unknown'}`, 7)[0];
      counted(itemNames[id] || 'item', { 1: 2, 2: 3, 3: 4, 4: 5, 5: 1 }[id] || 0, itemValue(id));
    }
  } else {
    if (command === 1) {
      take(4, 'identifier', itemValue(3), 4);
      take(4, 'expiration', itemValue(4), 5);
    }
    counted('device token', 2, itemValue(1));
    counted('payload', 3, itemValue(2));
  }
  return fields.filter(field => field.count > 0);
}

function itemValue(id) {
  return part => {
    if (id === 1) return short(hexOf(part));
    if (id === 2) return `${part.length} bytes of JSON`;
    if (id === 4) return number(part) === 0 ? '0, not to be stored' : `${number(part)}, ${dateTime(number(part) * 1000)}`;
    return String(number(part));
  };
}

function hexDump(bytes, fields) {
  const colors = new Array(bytes.length).fill(0);
  for (const field of fields) colors.fill(field.color, field.start, field.start + field.count);
  const lines = [];
  const width = isNarrow() ? 8 : 16;
  for (let start = 0; start < bytes.length; start += width) {
    const line = bytes.slice(start, start + width);
    lines.push(h('span', { class: 'off' }, start.toString(16).padStart(4, '0') + '  '));
    for (const [index, byte] of line.entries()) lines.push(h('span', { class: colors[start + index] ? `f${colors[start + index]}` : '' }, byte.toString(16).padStart(2, '0')), index === 7 ? '  ' : ' ');
    lines.push('   '.repeat(width - line.length) + (line.length < 8 ? ' ' : '') + ' ');
    lines.push(Array.from(line, byte => byte > 31 && byte < 127 ? String.fromCharCode(byte) : '·').join('') + '\n');
  }
  return h('div', { class: 'hex', tabindex: 0, role: 'group', 'aria-label': 'Hex dump' }, lines);
}

export function rawPanel(notification) {
  const bytes = bytesOf(notification.rawBase64);
  const isFrame = notification.interface === 'gateway';
  const fields = isFrame ? frameFields(bytes) : [];
  return [
    h('p', { class: 'faint small' }, isFrame ? `Command ${notification.command} of the binary protocol, ${bytes.length} bytes.` : `The request’s body, ${bytes.length} bytes.`),
    fields.length ? h('div', { class: 'legend' }, fields.map(field => h('span', { class: field.color ? `f${field.color}` : '' }, field.value ? `${field.name}: ${field.value}` : field.name))) : null,
    bytes.length ? hexDump(bytes, fields) : empty('No bytes', 'The request had no body.'),
    h('div', { class: 'row' }, button('Copy hex', () => copy(hexOf(bytes), 'Bytes')))];
}
