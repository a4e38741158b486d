/* What there is to say of a cluster; no elements. */

/* Numbers in order as people write them: 0–3, 7. */
export function ranges(numbers) {
  const parts = [];
  for (const number of numbers) {
    const last = parts.at(-1);
    if (last && last[1] === number - 1) last[1] = number; else parts.push([number, number]);
  }
  return parts.map(([first, last]) => first === last ? String(first) : `${first}–${last}`).join(', ');
}

export const count = (number, noun) => `${number} ${noun}${number === 1 ? '' : 's'}`;

/* A few are named, of many there is the number. */
const named = numbers => numbers.length > 8 ? count(numbers.length, 'zone') : `zone${numbers.length === 1 ? '' : 's'} ${ranges(numbers)}`;

/* What has happened between two looks, a sentence each. */
export function changesBetween(before, after) {
  const names = cluster => new Set(cluster.nodes.map(node => node.name));
  const [old, now] = [names(before), names(after)];
  const sentences = [];
  for (const name of now) if (!old.has(name)) sentences.push(`${name} joined the cluster`);
  for (const name of old) if (!now.has(name)) sentences.push(`${name} left the cluster`);
  const draining = new Set(before.nodes.filter(node => node.draining).map(node => node.name));
  for (const node of after.nodes) if (node.draining && !draining.has(node.name)) sentences.push(`${node.name} hands its zones over`);
  const moved = new Map();
  for (const zone of after.zones) {
    const leader = before.zones[zone.zone]?.owner;
    if (!zone.owner || leader === zone.owner) continue;
    const way = leader ? [zone.owner, leader] : [zone.owner];
    const key = JSON.stringify(way);
    moved.set(key, [...moved.get(key) || [], zone.zone]);
  }
  for (const [key, zones] of moved) {
    const [leader, former] = JSON.parse(key);
    sentences.push(`${leader} now leads ${named(zones)}${former ? `, led by ${former} before` : ''}`);
  }
  return sentences;
}

/* What is not right, a sentence each. */
export function troubles(cluster) {
  const sentences = [];
  if (cluster.because) sentences.push(`${cluster.name} is not ready: ${cluster.because}`);
  if (cluster.engine.waitingMs >= 1000) sentences.push(`${cluster.name} has waited for the NATS server for ${(cluster.engine.waitingMs / 1000).toFixed(1)} s`);
  const nowhere = cluster.zones.filter(zone => zone.seat === 'nowhere' && !zone.moving).map(zone => zone.zone);
  if (nowhere.length) sentences.push(`no node leads ${named(nowhere)}`);
  for (const zone of cluster.zones) if (zone.trouble) sentences.push(`zone ${zone.zone}: ${zone.trouble}`);
  return sentences;
}

/* The zones of each node, by its name. */
export function zonesByOwner(cluster) {
  const owned = new Map();
  for (const zone of cluster.zones) if (zone.owner) owned.set(zone.owner, [...owned.get(zone.owner) || [], zone.zone]);
  return owned;
}

/* A zone in a few words, for where the mouse rests and for who hears it. */
export const zoneWords = zone => [`Zone ${zone.zone}`, zone.owner || 'no leader', zone.moving ? 'moving' : zone.seat === 'nowhere' ? 'not served' : null,
  `epoch ${zone.epoch}`, `record ${zone.sequence}`, zone.waitingBytes ? `${zone.waitingBytes} bytes wait` : null, zone.trouble].filter(Boolean).join(', ');
