/* One phone: its screen to be touched, beside it what happened and what it is set to. The emulator's phone decides everything; this
   page shows what it says and hands on what a person does. */
import { api, path, questions } from './api.js';
import { commandBlock, deviceCommand } from './commands.js';
import { button, empty, h, redraw, show } from './dom.js';
import { sentence } from './format.js';
import { eventName } from './happenings.js';
import { onlineDot } from './marks.js';
import { failed, problem } from './notices.js';
import { phoneLog } from './phonelog.js';
import { phoneKey, phoneScreen } from './phonescreen.js';
import { phoneSettings } from './phonesettings.js';
import { on, store } from './store.js';

/* How often what has no event of its own is looked at again, in milliseconds: “5m ago” and the clock of the lock screen. */
const interval = 15000;

/* What is open on the screen is the looker's own, not the phone's: an unfolded group, the notification centre, a text being written. */
const fresh = udid => ({ udid, phone: null, drawn: {}, open: new Set(), seen: new Set(), isCentreOpen: false, reply: null, replyText: '', isAllOpen: false, drafts: new Map(), topic: null, filter: 'all', ask: questions() });
let view = fresh(null);

export function phonePane(main, udid) {
  if (!udid) return show(main, empty('No phone selected', 'Choose one in the list of devices.', h('p', {}, h('a', { href: '#devices' }, 'Devices'))));
  view = fresh(udid);
  store.phone = udid;
  view.head = h('div', { class: 'row' });
  view.trouble = h('div', { role: 'alert' });
  view.said = h('p', { class: 'unseen', role: 'status' });
  view.set = h('div', { class: 'phone-screen', role: 'group', 'aria-label': `Screen of ${udid}`, tabindex: -1, onkeydown: event => phoneKey(event, view, hands) });
  view.log = h('section', { class: 'phone-log', 'aria-label': 'What happened', tabindex: -1 });
  view.settings = h('section', { class: 'phone-settings', 'aria-label': 'Settings', tabindex: -1 });
  view.body = h('div', { class: 'phone-pane' }, view.set, view.log, view.settings);
  view.area = h('div', { class: 'pane' }, h('p', { class: 'faint' }, 'Loading…'));
  show(main, h('div', { class: 'bar' }, h('h2', {}, udid), view.head, h('span', { class: 'space' }), h('a', { class: 'button', href: '#devices' }, 'Devices')), view.area);
  refresh();
  return undefined;
}

const isShown = () => view.area?.isConnected;

async function refresh() {
  if (!isShown()) return;
  const { udid } = view, isNewest = view.ask();
  const isWanted = () => isNewest() && view.udid === udid && isShown();
  try {
    const phone = await api('GET', path('devices', udid, 'phone'));
    if (isWanted()) draw(phone);
  } catch (error) {
    if (isWanted()) withoutPhone(error);
  }
}

/* Someone else's client, or one that nobody has seen: in the emulator's own words. */
function withoutPhone(error) {
  view.drawn = {};
  show(view.area, failed('No screen to show', error, refresh), h('div', { class: 'empty' }, h('p', {}, 'Only a phone that the emulator simulates has a screen. Start one:'), commandBlock(deviceCommand(view.udid))));
}

function draw(phone) {
  view.phone = phone;
  const topics = Object.keys(phone.apps);
  if (!topics.includes(view.topic)) view.topic = phone.screen.foreground || topics[0] || null;
  if (!view.body.isConnected) show(view.area, view.trouble, view.said, view.body);
  show(view.head, onlineDot(phone.online), h('span', { class: 'faint' }, `iOS ${phone.iosVersion}`), phone.remark ? h('span', { class: 'faint small' }, phone.remark) : null,
    phone.online ? null : h('span', { class: 'faint small' }, phone.queued && Object.keys(phone.queued).length ? `Stored until the phone is online: ${queuedWords(phone.queued)}` : 'You can change settings: they are stored until the phone is online. Its screen does not react.'));
  view.set.classList.toggle('away', !phone.online);
  drawPart('set', [phone.screen, phone.settings, phone.apps, Math.floor(Date.now() / interval)], () => phoneScreen(view, hands));
  drawPart('settings', [phone.settings, phone.iosVersion, phone.apps, view.topic], () => phoneSettings(view, hands));
  drawPart('log', [phone.log.at(-1), phone.log.length, view.filter], () => phoneLog(view, hands));
}

const queuedWords = ({ apps, ...settings }) => [...Object.entries(settings), ...Object.entries(apps || {})].map(([name, value]) => `${name} ${JSON.stringify(value)}`).join(', ');

/* What has not changed stays, so that nothing moves under the hands of somebody. */
function drawPart(name, about, content) {
  const text = JSON.stringify(about);
  if (view.drawn[name] === text) return;
  view.drawn[name] = text;
  redraw(view[name], () => show(view[name], content()));
}

const hands = {
  /* Something that a person does to the phone; what it brings is told, a refusal stands at the place of what asked for it, else above the
     screen. Answers whether it was done. */
  async order(verb, body, place) {
    const { udid } = view;
    let isDone = false;
    if (place) problem(place);
    try {
      const answer = await api('POST', path('devices', udid, 'phone', verb), body || {});
      if (view.udid !== udid) return false;
      show(view.trouble, answer.queued ? h('p', { class: 'notice' }, 'The phone is offline. The change is stored until it is online.') : null);
      view.said.textContent = (answer.events || []).map(each => `${eventName(each)} ${each.detail}`).join('. ');
      isDone = true;
    } catch (error) {
      if (view.udid !== udid) return false;
      if (!place || !problem(place, error)) show(view.trouble, h('div', { class: 'notice trouble' }, h('span', {}, sentence(String(error.message || error))), button('Dismiss', () => show(view.trouble))));
      view.drawn.settings = null;
    }
    await refresh();
    return isDone;
  },
  set: (change, place) => hands.order('settings', change, place),
  /* Something that concerns this page only. */
  look(change) {
    Object.assign(view, change);
    view.drawn = {};
    draw(view.phone);
  },
};

on('phones', refresh);
setInterval(() => { if (isShown() && view.phone && view.body.isConnected) draw(view.phone); }, interval);
