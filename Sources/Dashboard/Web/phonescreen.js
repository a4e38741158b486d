/* The screen of a phone: what is on it, and what a finger or a key does to it. */
import { button, h } from './dom.js';
import { emulatorNow } from './store.js';
import { activityCard, activityWords, callScreen, expandedNote, permissionPrompt } from './phonescenes.js';
import { ago, appIcon, appName, attachment, handset, hours, lockClock, noteContent } from './handset.js';

export function phoneScreen(view, hands) {
  const { screen, settings } = view.phone;
  return [handset('', { class: `screen ${screen.locked ? 'locked' : ''}` },
    statusBar(view), scene(view, hands),
    screen.prompt && !screen.call ? permissionPrompt(screen.prompt, hands) : null),
  h('div', { class: 'row buttons' },
    button(screen.locked ? 'Unlock' : 'Lock', () => lock(view, hands), { 'data-key': 'lock' }),
    button('Home', () => home(view, hands), { 'data-key': 'home', disabled: screen.locked || !screen.foreground }),
    button(view.isCentreOpen ? 'Close the list' : 'Notification list', () => hands.look({ isCentreOpen: !view.isCentreOpen }), { 'data-key': 'centre', 'aria-expanded': String(view.isCentreOpen) }),
    settings.focus ? h('span', { class: 'badge' }, 'Focus') : null),
  h('p', { class: 'faint small keys' }, key('Enter'), ' tap ', key('E'), ' expand ', key('Delete'), ' clear ', key('L'), ' lock ', key('H'), ' home ', key('C'), ' list')];
}

const key = name => h('kbd', {}, name);

function statusBar({ phone: { settings, screen } }) {
  return h('div', { class: 'status', 'aria-hidden': 'true' }, h('span', {}, screen.locked ? '' : hours(emulatorNow())),
    h('span', {}, settings.focus ? '☾ ' : '', settings.network ? '' : 'no network ', h('span', { class: `battery ${settings.lowPower ? 'low' : ''}` })));
}

function scene(view, hands) {
  const { screen } = view.phone;
  if (screen.call) return callScreen(screen.call, hands);
  const expanded = screen.expanded === null ? null : everyNote(screen).find(note => note.id === screen.expanded);
  if (expanded) return expandedNote(expanded, view, hands);
  if (screen.locked) return [lockClock(), scroller(activities(screen, hands), view.isCentreOpen ? centre(view, hands) : lockNotes(view, hands))];
  const banner = screen.banner ? h('ul', { class: 'notes banner' }, noteRow(screen.banner, view, hands, true)) : null;
  if (view.isCentreOpen) return [h('div', { class: 'small center' }, h('strong', {}, 'Notification Centre')), scroller(activities(screen, hands), centre(view, hands))];
  const live = screen.activities.find(each => each.id === screen.island);
  return [banner, live ? liveIsland(live) : null, screen.foreground ? openApp(view) : homeScreen(view, hands)];
}

function everyNote(screen) {
  return [...screen.lockScreen, ...(screen.banner ? [screen.banner] : []), ...screen.list.flatMap(group => group.notes)];
}

const activities = (screen, hands) => screen.activities.map(activity => activityCard(activity, hands));

/* What is scrolled away stays so. */
const scroller = (...content) => h('div', { class: 'scroller', 'data-key': 'scroller' }, content);

// MARK: notes

/* Of one app and thread, in the order in which their newest came; what has no thread stands alone. */
export function groupsOf(notes) {
  const groups = new Map();
  for (const note of notes) {
    const name = note.thread === null ? note.id : `${note.topic} ${note.thread}`;
    if (!groups.has(name)) groups.set(name, { topic: note.topic, thread: note.thread, notes: [] });
    groups.get(name).notes.push(note);
  }
  return Array.from(groups.values());
}

function lockNotes(view, hands) {
  const { screen } = view.phone;
  const shown = new Set(screen.lockScreen.map(note => note.id));
  const older = screen.list.flatMap(group => group.notes).filter(note => !shown.has(note.id)).length;
  return [groupsOf(screen.lockScreen).map(group => noteGroup(group, view, hands)),
    older ? button(`${older} more in Notification Centre`, () => hands.look({ isCentreOpen: true }), { class: 'pill', 'data-key': 'more' }) : null,
    screen.summary?.waiting ? h('p', { class: 'small center' }, `${screen.summary.waiting} waiting for the summary at ${hours(screen.summary.next)}`) : null];
}

function centre(view, hands) {
  const { list } = view.phone.screen;
  if (!list.length) return h('p', { class: 'center' }, 'No notifications');
  return [h('div', { class: 'row end' }, button('Clear all', () => hands.order('clear', {}), { class: 'pill', 'data-key': 'clear-all' })), list.map(group => noteGroup(group, view, hands))];
}

function noteGroup(group, view, hands) {
  const name = `${group.topic} ${group.thread || ''}`, [first, ...rest] = group.notes;
  if (!rest.length) return h('ul', { class: 'notes' }, noteRow(first, view, hands));
  const isOpen = view.open.has(name);
  const toggle = () => {
    if (!view.open.delete(name)) view.open.add(name);
    hands.look({});
  };
  if (!isOpen) {
    return h('div', { class: 'stack' }, h('button', { type: 'button', class: 'note', 'data-key': `group-${name}`, 'aria-expanded': 'false', onclick: toggle },
      noteContent(first, ago(first.at)), h('span', { class: 'b rest' }, `${rest.length} more from ${appName(group.topic)}`)));
  }
  return h('div', { class: 'group' }, h('div', { class: 'row' }, h('strong', {}, appName(group.topic)), group.thread ? h('span', { class: 'small' }, group.thread) : null, h('span', { class: 'space' }),
    button('Show less', toggle, { class: 'pill', 'data-key': `group-${name}`, 'aria-expanded': 'true' })),
  h('ul', { class: 'notes' }, group.notes.map(note => noteRow(note, view, hands))));
}

const levels = { 'time-sensitive': 'Time Sensitive', critical: 'Critical' };

function noteRow(note, view, hands, isBanner) {
  const isNew = !view.seen.has(note.id);
  view.seen.add(note.id);
  const flick = () => hands.order('flick', { id: note.id });
  const does = { right: () => hands.order('tap', { id: note.id }), left: isBanner ? flick : () => hands.order('dismiss', { id: note.id }), up: isBanner ? flick : null };
  const row = h('li', { class: `note-row ${isNew ? 'new' : ''}`, 'data-note': String(note.id) },
    h('button', { type: 'button', class: 'note', 'data-key': `note-${note.id}`, onclick: () => hands.order('tap', { id: note.id }) },
      levels[note.level] ? h('span', { class: 'level' }, levels[note.level]) : null, note.isInCar ? h('span', { class: 'level' }, 'CarPlay') : null, noteContent(note, ago(note.at)), note.image && !note.attachment?.thumbnailHidden ? attachment(note.image, 'thumb') : null),
    h('div', { class: 'note-tools' },
      button('Expand', () => hands.order('expand', { id: note.id }), { 'data-key': `expand-${note.id}` }),
      isBanner ? button('Flick away', flick, { 'data-key': `flick-${note.id}` }) : button('Clear', () => hands.order('dismiss', { id: note.id }), { 'data-key': `clear-${note.id}` })));
  swiping(row, does);
  return row;
}

/* How far a finger goes before it means it, in pixels. */
const swipe = { slop: 8, far: 70 };

function swiping(row, does) {
  let start = null, moved = false;
  row.addEventListener('pointerdown', event => { if (event.button === 0 && !event.target.closest('.note-tools')) { start = event; moved = false; } });
  row.addEventListener('pointermove', event => {
    if (!start) return;
    const x = event.clientX - start.clientX, y = event.clientY - start.clientY;
    if (!moved && Math.max(Math.abs(x), does.up ? -y : 0) > swipe.slop) {
      moved = true;
      row.setPointerCapture(event.pointerId);
    }
    if (moved) row.style.transform = does.up && -y > Math.abs(x) ? `translateY(${Math.min(0, y)}px)` : `translateX(${x}px)`;
  });
  const end = event => {
    if (!start) return;
    const x = event.clientX - start.clientX, y = event.clientY - start.clientY;
    start = null;
    row.style.transform = '';
    if (event.type === 'pointercancel' || !moved) return;
    const work = x < -swipe.far ? does.left : x > swipe.far ? does.right : y < -swipe.far / 2 ? does.up : null;
    if (work) work();
  };
  row.addEventListener('pointerup', end);
  row.addEventListener('pointercancel', end);
  /* The click that ends a swipe is none. */
  row.addEventListener('click', event => { if (moved) { event.stopPropagation(); event.preventDefault(); moved = false; } }, true);
}

// MARK: unlocked

function homeScreen(view, hands) {
  const apps = Object.entries(view.phone.apps);
  const { badge } = view.phone.screen;
  return h('ul', { class: 'home' }, apps.length ? apps.map(([topic]) => h('li', {},
    h('button', { type: 'button', 'data-key': `open-${topic}`, 'aria-label': `Open ${appName(topic)}${badge[topic] ? `, badge ${badge[topic]}` : ''}`, onclick: () => hands.order('open', { topic }) },
      appIcon(topic, badge[topic] || 0), h('span', { class: 'small' }, appName(topic))))) : h('li', { class: 'center small' }, 'No app is installed.'));
}

function openApp({ phone }) {
  const topic = phone.screen.foreground;
  const called = phone.log.findLast(each => each.event === 'callback' && each.topic === topic);
  return h('div', { class: 'app' }, appIcon(topic, 0), h('strong', {}, appName(topic)), h('span', { class: 'small' }, 'in the foreground'),
    called ? h('div', { class: 'called small' }, h('span', {}, 'last callback'), h('code', { class: 'break' }, called.detail)) : null);
}

const liveIsland = activity => h('div', { class: 'live-island', role: 'group', 'aria-label': 'Live Activity' }, appIcon(activity.topic, 0), h('span', {}, activityWords(activity)));

// MARK: keys

const lock = (view, hands) => hands.set({ locked: !view.phone.screen.locked });

function home(view, hands) {
  const { foreground } = view.phone.screen;
  return foreground ? hands.order('leave', { topic: foreground, state: 'background' }) : undefined;
}

/* Keys while the keyboard is on the phone. */
export function phoneKey(event, view, hands) {
  if (event.metaKey || event.ctrlKey || event.altKey || event.target.closest('input, textarea') && event.key !== 'Escape') return;
  const id = Number(event.target.closest('[data-note]')?.dataset.note) || null;
  const { screen } = view.phone;
  const work = {
    e: id && (() => hands.order('expand', { id })), Delete: id && (() => hands.order('dismiss', { id })), Backspace: id && (() => hands.order('dismiss', { id })),
    l: () => lock(view, hands), h: screen.foreground && (() => home(view, hands)), c: () => hands.look({ isCentreOpen: !view.isCentreOpen }),
    Escape: (screen.expanded !== null && (() => hands.order('close', {}))) || (view.isCentreOpen && (() => hands.look({ isCentreOpen: false }))),
  }[event.key];
  if (!work) return;
  event.preventDefault();
  work();
}
