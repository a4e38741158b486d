/* One notification: its head, and a tab for each of its parts. */
import { api, path } from './api.js';
import { button, clamped, empty, h, show } from './dom.js';
import { dateTime, headline } from './format.js';
import { stateBadge } from './marks.js';
import { copy, failed, problemAt } from './notices.js';
import { headersPanel, verdictPanel } from './panels.js';
import { payloadPanel } from './payload.js';
import { previewPanel } from './preview.js';
import { rawPanel } from './raw.js';
import { editAndReplay, replay } from './replay.js';
import { commandFor, commandProblem, editProblem, isBroadcast, isFrameCommand, replayProblem } from './resend.js';
import { timelinePanel } from './timeline.js';

const tabs = { Preview: previewPanel, Payload: payloadPanel, Headers: headersPanel, Raw: rawPanel, Verdict: verdictPanel, Timeline: timelinePanel };
export const [firstTab] = Object.keys(tabs);

/* The tab that an address names, else the first. */
export const tabNamed = word => Object.keys(tabs).find(name => name.toLowerCase() === word) || firstTab;

/* Shows the notification in the pane, if `isWanted` says so when it has come; `back` leads to the list, and `chose` hears of another tab. */
export async function showDetail(pane, id, hands) {
  if (id === null) {
    return show(pane, empty('No notification selected', 'Select one with the mouse, or with the keys j and k. Its preview, payload, raw bytes and verdict appear here.'));
  }
  try {
    const notification = await api('GET', path('notifications', String(id)));
    if (hands.isWanted()) drawDetail(pane, notification, hands);
  } catch (error) {
    if (hands.isWanted()) show(pane, failed('The notification could not be loaded', error, () => showDetail(pane, id, hands)));
  }
  return undefined;
}

function drawDetail(pane, notification, { back, tab: openTab, chose }) {
  const panel = h('div', { role: 'tabpanel', id: 'panel', tabindex: 0 });
  const list = h('div', { role: 'tablist', 'aria-label': 'Parts' });
  const draw = name => {
    for (const tab of list.children) {
      tab.setAttribute('aria-selected', String(tab.textContent === name));
      tab.tabIndex = tab.textContent === name ? 0 : -1;
    }
    panel.setAttribute('aria-label', name);
    list.querySelector('[aria-selected=true]').scrollIntoView({ block: 'nearest', inline: 'nearest' });
    show(panel, tabs[name](notification));
  };
  for (const name of Object.keys(tabs)) {
    list.append(h('button', { type: 'button', role: 'tab', 'aria-controls': 'panel', onclick: () => { draw(name); chose(name, true); }, onkeydown: event => {
      const names = Object.keys(tabs);
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      const next = (names.indexOf(name) + step + names.length) % names.length;
      draw(names[next]);
      chose(names[next]);
      list.children[next].focus();
    } }, name));
  }
  show(pane, h('div', { class: 'detail-head' },
    h('div', { class: 'row' }, button('← List', back, { class: 'only-narrow' }), clamped('h2', headline(notification))),
    h('div', { class: 'row' }, stateBadge(notification.state), h('span', { class: 'faint small break' },
      `#${notification.id} · ${notification.topic || 'no topic'} · ${isBroadcast(notification) ? `broadcast to ${notification.channelId || 'no channel'}` : notification.udid || 'unknown device'} · ${dateTime(notification.receivedAt)}${notification.node ? ` · by ${notification.node}` : ''}`)),
    againRow(notification)),
  list, panel);
  draw(openTab);
}

/* To send it again; what can't be done says why. */
function againRow(notification) {
  const reasons = [commandProblem(notification), replayProblem(notification), editProblem(notification)];
  const about = index => reasons[index] ? { disabled: true, 'aria-describedby': 'why-not' } : {};
  return [h('div', { class: 'row' },
    button(isFrameCommand(notification) ? 'Copy as openssl' : 'Copy as curl', () => copy(commandFor(notification), 'Command'), about(0)),
    button('Replay', () => replay(notification), about(1)), button('Edit and replay', () => editAndReplay(notification), about(2))),
  reasons.some(Boolean) ? h('p', { class: 'faint small', id: 'why-not' }, Array.from(new Set(reasons.filter(Boolean))).join(' ')) : null, problemAt('replay')];
}
