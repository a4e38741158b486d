/* The cluster: its nodes, which node leads which zone, and what people do to them. */
import { api, path, Unreachable } from './api.js';
import { changesBetween, count, ranges, troubles, zonesByOwner, zoneWords } from './clusterwords.js';
import { button, facts, h, redraw, show } from './dom.js';
import { clockTime, sentence } from './format.js';
import { attempt, confirmed, problemAt } from './notices.js';
import { store } from './store.js';

/* Times in milliseconds; colours of zones, and lines of what is wrong and of what has happened, as counts. */
const limits = { look: 1000, colours: 7, wrong: 8, happened: 12 };

/* Of a node that is gone too: its zones keep its colour until they are another's. */
const colours = new Map();

/* What was seen last, what has changed since this page was opened, and the zone that is looked at. */
const view = { cluster: null, happened: [], zone: null };

export const isNode = () => Boolean(store.info?.node);

export function clusterPane(main) {
  const parts = { state: h('p', { role: 'status' }, 'Loading…'), nodes: h('div', { class: 'nodes' }), grid: h('div', { class: 'zones', role: 'group', 'aria-label': 'Zones' }),
    zone: h('div', { class: 'card', tabindex: -1 }), happened: h('ul', { class: 'facts' }), cells: [], shown: '' };
  show(main, h('div', { class: 'bar' }, h('h2', {}, 'Cluster'), h('span', { class: 'space' })),
    h('div', { class: 'pane' }, parts.state, h('h3', {}, 'Nodes'), parts.nodes,
      h('h3', {}, 'Zones'), h('p', { class: 'faint small' }, 'Each device belongs to one zone. The leader of the zone serves the device, whichever node it is connected to. Choose a zone to move it to another node.'),
      parts.grid, parts.zone, h('h3', {}, 'Changes'), parts.happened));
  if (view.cluster) draw(parts);
  look(parts);
}

/* Asks again and again, while somebody looks. */
async function look(parts) {
  if (!parts.state.isConnected) return;
  if (!document.hidden) await ask(parts);
  setTimeout(() => look(parts), limits.look);
}

async function ask(parts) {
  try {
    const cluster = await api('GET', path('cluster'));
    if (view.cluster) note(changesBetween(view.cluster, cluster));
    view.cluster = cluster;
    if (parts.state.isConnected) draw(parts);
  } catch (error) {
    /* What was seen last stays: it is most of what is known of the others. */
    show(parts.state, h('strong', { class: 'bad' }, error instanceof Unreachable ? 'This node does not answer.' : sentence(String(error.message || error))),
      view.cluster ? ' Its last answer is shown. Open the console of another node below.' : '');
  }
}

function note(sentences) {
  const at = clockTime(Date.now()).slice(0, 8);
  view.happened = [...sentences.map(text => [at, text]), ...view.happened].slice(0, limits.happened);
}

function colourOf(name) {
  if (!name) return '';
  if (!colours.has(name)) colours.set(name, colours.size % limits.colours + 1);
  return `f${colours.get(name)}`;
}

/* What has not changed stays as it is, under the mouse and the keyboard. */
function draw(parts) {
  const { cluster } = view;
  for (const { name } of cluster.nodes) colourOf(name);
  const wrong = troubles(cluster);
  show(parts.state, wrong.length ? h('ul', { class: 'facts bad' }, wrong.slice(0, limits.wrong).map(text => h('li', {}, text)))
    : h('span', {}, h('strong', { class: 'good' }, 'Ready'), ` according to ${cluster.name}: ${count(cluster.nodes.length, 'node')}, ${count(cluster.zoneCount, 'zone')}, NATS server ${cluster.engine.servers.join(', ')}`));
  drawZones(parts);
  const owned = zonesByOwner(cluster);
  const shown = JSON.stringify([cluster.nodes, [...owned], cluster.zones[view.zone], view.happened]);
  if (parts.shown === shown) return;
  parts.shown = shown;
  redraw(parts.nodes, () => show(parts.nodes, cluster.nodes.map(node => nodeCard(node, owned.get(node.name) || []))));
  redraw(parts.zone, () => drawZone(parts));
  show(parts.happened, view.happened.length ? view.happened.map(([at, text]) => h('li', {}, h('code', { class: 'faint' }, at), ' ', text)) : h('li', { class: 'faint' }, 'No changes since this page was opened'));
}

const order = (name, word, done) => attempt(`node ${name}`, () => api('POST', path('cluster', 'nodes', name, word)), done);

function nodeCard(node, zones) {
  const { name } = node;
  return h('section', { class: 'card', 'aria-label': `Node ${name}` },
    h('div', { class: 'row' }, h('span', { class: `swatch ${colourOf(name)}`, 'aria-hidden': 'true' }), h('strong', {}, name),
      node.isThis ? h('span', { class: 'badge' }, 'this node') : null, node.draining ? h('span', { class: 'badge warn' }, 'draining') : null),
    facts([['Zones', zones.length ? `${zones.length}: ${ranges(zones)}` : 'none'], ['Devices', String(node.devices)],
      ['Console', node.console ? h('a', { href: `http://${node.console}/#cluster`, 'data-key': `console ${name}` }, node.console) : 'unknown']]),
    h('div', { class: 'row' },
      button('Drain', () => confirmed(`Drain ${name}? The node hands its zones over, then ends. No push is rejected.`, 'Drain', () => order(name, 'drain', `${name} hands its zones over`)), { 'data-key': `drain ${name}`, 'aria-label': `Drain ${name}`, disabled: node.draining }),
      button('Kill', () => confirmed(`Kill ${name} as with kill -9? Pushes for its zones wait or are rejected until other nodes lead these zones.`, 'Kill', () => order(name, 'kill', `${name} was killed`)), { class: 'danger', 'data-key': `kill ${name}`, 'aria-label': `Kill ${name}` })), problemAt(`node ${name}`));
}

/* There are as many as when the cluster was made: each keeps its button. */
function drawZones(parts) {
  const { zones } = view.cluster;
  if (parts.cells.length !== zones.length) {
    parts.cells = zones.map(({ zone }) => button(String(zone), () => choose(parts, zone)));
    show(parts.grid, parts.cells);
  }
  zones.forEach((zone, index) => {
    const cell = parts.cells[index], words = zoneWords(zone);
    const className = `zone ${colourOf(zone.owner)}${zone.moving ? ' moving' : zone.seat === 'nowhere' ? ' nowhere' : ''}${zone.trouble ? ' troubled' : ''}`;
    if (cell.className !== className) cell.className = className;
    if (cell.title !== words) { cell.title = words; cell.setAttribute('aria-label', words); }
    cell.setAttribute('aria-pressed', String(view.zone === zone.zone));
  });
}

function choose(parts, zone) {
  view.zone = view.zone === zone ? null : zone;
  draw(parts);
}

function drawZone(parts) {
  const { cluster } = view;
  const zone = cluster.zones[view.zone];
  parts.zone.hidden = !zone;
  if (!zone) return show(parts.zone);
  const move = name => attempt('zone', () => api('POST', path('cluster', 'zones', String(zone.zone)), { node: name }), `Zone ${zone.zone} is moving to ${name}`);
  const others = cluster.nodes.filter(node => node.name !== zone.owner && !node.draining);
  show(parts.zone, h('strong', {}, `Zone ${zone.zone}`),
    facts([['Leader', zone.owner || 'none'], ['State', zone.moving ? 'moving' : { here: 'served by this node', elsewhere: 'served by another node', nowhere: 'not served' }[zone.seat]],
      ['Epoch', `${zone.epoch}: number of changes of the leader`], ['Record', `${zone.sequence}: the last of the zone’s log that this node knows`],
      ['Waiting for NATS', zone.waitingBytes ? `${zone.waitingBytes} bytes` : 'nothing'], zone.trouble ? ['Trouble', h('span', { class: 'bad' }, zone.trouble)] : null]),
    h('div', { class: 'row' }, others.length ? others.map(node => button(`Move to ${node.name}`, () => move(node.name), { 'data-key': `move ${node.name}` })) : h('span', { class: 'faint' }, 'No other node can take this zone.')), problemAt('zone'));
  return undefined;
}
