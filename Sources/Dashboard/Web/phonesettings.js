/* What a phone and an app on it are set to, to be changed. */
import { button, h } from './dom.js';
import { dateTime } from './format.js';
import { appName } from './handset.js';
import { shortToken } from './marks.js';
import { copy, problem, problemAt } from './notices.js';

const versions = ['26.4', '26', '18', '17', '16', '15', '14', '13', '12', '11', '10', '9', '8', '7'];
const languages = ['en', 'de', 'es', 'fr', 'it', 'ja', 'pt', 'zh-Hans'];
const previews = { always: 'Always', 'when-unlocked': 'When unlocked', never: 'Never' };
const states = ['foreground', 'background', 'suspended', 'terminated', 'force-quit', 'never-launched'];
const statuses = ['not-determined', 'denied', 'authorized', 'provisional', 'ephemeral'];
const switches = { alert: 'Alerts', sound: 'Sounds', badge: 'Badges', banner: 'Banners', lockScreen: 'Lock screen', list: 'List', timeSensitive: 'Time-sensitive', liveActivities: 'Live Activities', moreFrequentUpdates: 'More frequent updates' };
const callbacks = { M1: 'didReceiveRemoteNotification', M2: 'didReceiveLocalNotification', M3: '…fetchCompletionHandler', M4: 'willPresent', M5: 'didReceive(response)', M6: 'openSettings' };

/* Hands whose refusals stand at that place, unless a part has one of its own. */
const handsAt = (hands, place) => ({ ...hands, order: (verb, body, own = place) => hands.order(verb, body, own), set: (change, own = place) => hands.set(change, own) });

export function phoneSettings(view, hands) {
  const { phone, topic } = view, app = topic === null ? null : phone.apps[topic];
  return [h('div', { class: 'card' }, h('h3', {}, 'Phone'), phoneCard(phone, handsAt(hands, 'phone settings')), problemAt('phone settings')),
    app ? h('div', { class: 'card' }, h('div', { class: 'row' }, h('h3', {}, 'App'), Object.keys(phone.apps).length > 1
      ? menu('App', 'topic', Object.keys(phone.apps), topic, value => hands.look({ topic: value }), appName) : h('span', {}, appName(topic))), appCard(view, topic, app, handsAt(hands, 'app settings'))) : null];
}

/* A current value that is none of the usual is offered too. */
function menu(name, id, values, current, work, words = value => value) {
  const all = values.includes(current) ? values : [current, ...values];
  return h('select', { 'aria-label': name, 'data-key': `set-${id}`, onchange: event => work(event.target.value) }, all.map(value => h('option', { value, selected: value === current }, words(value))));
}

const row = (name, control) => h('label', { class: 'setting' }, h('span', {}, name), control);
const toggle = (name, id, isOn, work) => h('label', { class: 'inline' }, h('input', { type: 'checkbox', 'data-key': `set-${id}`, checked: isOn, onchange: event => work(event.target.checked) }), ' ', name);

function phoneCard(phone, hands) {
  const { settings, apps } = phone, { focus } = settings;
  const allow = (topic, isAllowed) => hands.set({ focus: { allows: isAllowed ? [...focus.allows, topic] : focus.allows.filter(each => each !== topic) } });
  return [row('iOS', menu('iOS version', 'ios', versions, phone.iosVersion, iosVersion => hands.set({ iosVersion }))),
    row('Language', menu('Language', 'language', languages, settings.language, language => hands.set({ language }))),
    row('Show previews', menu('Show previews', 'previews', Object.keys(previews), settings.previews || 'always', value => hands.set({ previews: value }), value => previews[value])),
    h('div', { class: 'toggles' }, toggle('Locked', 'locked', settings.locked, locked => hands.set({ locked })), toggle('Low Power', 'power', settings.lowPower, lowPower => hands.set({ lowPower })),
      toggle('Background Refresh', 'refresh', settings.backgroundRefresh ?? true, backgroundRefresh => hands.set({ backgroundRefresh })),
      toggle('Network', 'network', settings.network, network => hands.set({ network })), toggle('Focus', 'focus', focus !== null, isOn => hands.set({ focus: isOn ? { allows: [] } : null })),
      toggle('In a car', 'car', settings.carPlay || false, carPlay => hands.set({ carPlay })), toggle('Headphones', 'headphones', settings.headphones || false, headphones => hands.set({ headphones })),
      toggle('Strict push type', 'strict', settings.strictPushType || false, strictPushType => hands.set({ strictPushType })),
      toggle('Summary', 'summary', Boolean(settings.summary), isOn => hands.set({ summary: isOn ? { apps: Object.keys(apps) } : null }))),
    focus ? h('fieldset', {}, h('legend', { class: 'small' }, 'Apps that Focus lets through'), Object.keys(apps).map(topic => toggle(appName(topic), `focus-${topic}`, focus.allows.includes(topic), isOn => allow(topic, isOn)))) : null,
    settings.summary ? summaryCard(settings.summary, apps, hands) : null,
    button('Restart', () => hands.order('restart', {}), { 'data-key': 'restart' })];
}

function summaryCard(summary, apps, hands) {
  const wait = (topic, waits) => hands.set({ summary: { ...summary, apps: waits ? [...summary.apps, topic] : summary.apps.filter(each => each !== topic) } });
  return h('fieldset', {}, h('legend', { class: 'small' }, `Apps in the summary at ${summary.times.join(', ')}`), Object.keys(apps).map(topic => toggle(appName(topic), `summary-${topic}`, summary.apps.includes(topic), waits => wait(topic, waits))));
}

/* The buttons below a provisional notification, by what each leads to. */
function trialRow(topic, iosVersion, hands) {
  const choices = parseInt(iosVersion, 10) < 15 ? { 'deliver-prominently': 'Deliver Prominently', 'deliver-quietly': 'Deliver Quietly' } : { 'deliver-immediately': 'Deliver Immediately', 'deliver-in-summary': 'Deliver in Scheduled Summary' };
  const choose = (choice, words) => button(words, () => hands.order('trial', { topic, choice }), { 'data-key': `trial-${choice}` });
  return h('fieldset', {}, h('legend', { class: 'small' }, 'Provisional authorization'), h('div', { class: 'row' }, Object.entries(choices).map(([choice, words]) => choose(choice, `Keep… ${words}`)), choose('turn-off', 'Turn Off…')));
}

function appCard(view, topic, app, hands) {
  const set = change => hands.set({ apps: { [topic]: change } });
  const { phone } = view, { permission, silentBudget: budget } = app;
  const go = state => state === 'foreground' ? hands.order('open', { topic }) : hands.order('leave', { topic, state });
  const implement = (name, isOn) => set({ callbacks: Object.keys(callbacks).filter(each => each === name ? isOn : app.callbacks.includes(each)) });
  return [row('State', menu('State of the app', 'state', states, app.state, state => state === 'never-launched' ? set({ state }) : go(state))),
    h('div', { class: 'row' }, button('Force-quit', () => go('force-quit'), { class: 'danger', 'data-key': 'quit', disabled: app.state === 'force-quit' }),
      button('Register', () => hands.order('register', { topic }), { 'data-key': 'register', title: 'registerForRemoteNotifications' }),
      button('Ask for authorization', () => hands.order('authorize', { topic, options: ['alert', 'badge', 'sound'] }), { 'data-key': 'authorize' })),
    row('Notifications', menu('Authorization', 'permission', statuses, permission.status, status => set({ permission: { status } }))),
    h('div', { class: 'toggles' }, Object.entries(switches).map(([name, words]) => toggle(words, `permission-${name}`, permission[name], isOn => set({ permission: { [name]: isOn } }))),
      toggle('Background Refresh', 'app-refresh', app.backgroundRefresh ?? true, backgroundRefresh => set({ backgroundRefresh }))),
    permission.status === 'provisional' ? trialRow(topic, phone.iosVersion, hands) : null,
    h('fieldset', {}, h('legend', { class: 'small' }, 'Implemented callbacks'), h('div', { class: 'toggles' }, Object.entries(callbacks).map(([name, words]) => toggle(h('span', {}, h('code', {}, name), ' ', h('span', { class: 'small' }, words)), `callback-${name}`, app.callbacks.includes(name), isOn => implement(name, isOn))))),
    budget ? h('div', { class: 'setting' }, h('span', {}, 'Silent pushes'), h('span', { class: 'budget' }, Array.from({ length: budget.of }, (_, index) => h('span', { class: `coin ${index < budget.left ? 'on' : ''}`, 'aria-hidden': 'true' })),
      ` ${budget.left} of ${budget.of}${budget.leftToday === undefined ? '' : `, ${budget.leftToday} today`}${budget.held ? ', one is held' : ''}`, budget.next ? h('span', { class: 'faint small' }, `, next ${dateTime(budget.next).slice(11)}`) : null)) : null,
    app.pending?.length ? h('div', { class: 'setting' }, h('span', {}, 'Scheduled'), h('span', { class: 'small' }, app.pending.map(each => `${each.title || each.body || each.identifier}${each.next ? ` at ${dateTime(each.next).slice(11)}` : ''}${each.repeats ? ', repeated' : ''}`).join('; '))) : null,
    problemAt('app settings'), tokens(topic, app.deviceTokens || []), localForm(topic, handsAt(hands, 'local notification')), everything(view, topic, app, handsAt(hands, 'all settings'))];
}

/* What a push to a token is for: the app itself, pushes of a type, a Live Activity or the start of some. */
export function tokenUse(app, { topic, context }) {
  const [kind, name] = context ? [context.slice(0, context.indexOf(':')), context.slice(context.indexOf(':') + 1)] : [];
  if (kind) return kind === 'start' ? `Starts ${name}` : `Updates ${name}`;
  return topic === app ? 'The app' : topic.slice(app.length);
}

const tokens = (app, all) => all.length ? h('div', { class: 'app-tokens' }, h('h4', {}, all.length > 1 ? `${all.length} tokens` : 'Token'), h('ul', {}, all.map(each => {
  const use = tokenUse(app, each);
  return h('li', { class: 'setting' }, h('span', { class: 'break' }, use, ' ', h('a', { href: `#tokens/${each.token}`, 'data-key': `token-${use}` }, shortToken(each.token))),
    button('Copy', () => copy(each.token, 'Token'), { 'aria-label': `Copy the token: ${use}`, 'data-key': `copy-${use}` }));
}))) : null;

/* Members that the phone tells of an app and that nobody sets. */
const told = ['badge', 'silentBudget', 'budgets', 'pending', 'deviceTokens'];

/* Whatever else there is to be set, as the API takes it: actions, extensions, entitlements, words. What is being written stays. */
function everything(view, topic, app, hands) {
  const text = view.drafts.get(topic) ?? JSON.stringify(Object.fromEntries(Object.entries(app).filter(([name]) => !told.includes(name))), null, 2);
  const set = async () => {
    let change;
    try { change = JSON.parse(view.drafts.get(topic) ?? text); } catch (error) { problem('all settings', `This is not JSON: ${error.message}`); return; }
    const written = view.drafts.get(topic);
    view.drafts.delete(topic);
    if (await hands.set({ apps: { [topic]: change } }) || written === undefined) return;
    view.drafts.set(topic, written);
    hands.look({});
  };
  return h('details', { open: view.isAllOpen, ontoggle: event => { view.isAllOpen = event.target.open; } }, h('summary', { 'data-key': 'all' }, 'All settings as JSON'),
    h('textarea', { rows: 12, spellcheck: 'false', 'aria-label': 'Settings of the app', 'data-key': 'all-text', value: text, oninput: event => view.drafts.set(topic, event.target.value) }), problemAt('all settings'),
    button('Apply', set, { 'data-key': 'all-set' }));
}

function localForm(topic, hands) {
  const field = (name, attributes) => h('input', { name, 'data-key': `local-${name}`, ...attributes });
  return h('form', { class: 'local row', onsubmit: event => {
    event.preventDefault();
    const { title, after } = event.target.elements;
    hands.order('local', { topic, identifier: `dashboard-${title.value}`, content: { title: title.value }, trigger: { after: after.value } });
  } }, h('span', { class: 'small' }, 'Local notification'), field('title', { 'aria-label': 'Title of a local notification', value: 'Tea is ready', required: true }), field('after', { 'aria-label': 'Time until a local notification', value: '5s', size: 4, required: true, pattern: '([0-9]+(ms|s|m|h|d))+' }), h('button', { 'data-key': 'local-add' }, 'Schedule'), problemAt('local notification'));
}
