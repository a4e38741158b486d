/* Panes, keys, and the beginning. */
const panesByName = {
  notifications: ['Notifications', notificationsPane, () => store.notifications.size],
  tokens: ['Token map', tokensPane, () => store.nextToken && store.info ? store.info.counters.tokens : store.tokens.length], devices: ['Devices', devicesPane, () => store.info && store.info.counters.devices],
  send: ['Send a push', sendPane], feedback: ['Feedback', feedbackPane], channels: ['Channels', channelsPane],
  connections: ['Connections', connectionsPane], faults: ['Faults', faultsPane], clock: ['Clock', clockPane],
  /* Reached from a token. */
  present: ['Presenter view', presentPane],
};

function drawNav() {
  const [current] = place() || ['notifications'];
  show($('nav'), Object.entries(panesByName).filter(([name]) => name !== 'present').map(([name, [title, , count]]) =>
    h('a', { href: `#${name}`, 'aria-current': name === current ? 'page' : null }, title, count && count() ? h('span', { class: 'count', title: count().toLocaleString('en') }, compact(count())) : null)));
}

/* Pane and argument of the address; null if there is no such place. */
function place() {
  if (location.hash.length < 2) return ['notifications'];
  let parts;
  try { parts = location.hash.slice(1).split('/').map(decodeURIComponent); } catch { return null; }
  const [name, argument] = parts;
  const isPlace = Object.hasOwn(panesByName, name) && parts.length < 3 && !(name === 'notifications' && argument && !/^[0-9]{1,15}$/.test(argument));
  return isPlace ? parts : null;
}

function route() {
  const parts = place();
  if (!parts) notice('address', h('span', {}, `There is nothing at ${location.hash.slice(0, 80)}, so this is the list of notifications.`), button('Dismiss', () => notice('address')));
  else notice('address');
  const [name, argument] = parts || ['notifications'];
  const pane = panesByName[name];
  drawNav();
  const current = $('nav').querySelector('[aria-current]');
  if (current && isNarrow()) current.scrollIntoView({ block: 'nearest', inline: 'center' });
  document.body.classList.toggle('presenting', name === 'present');
  document.title = `${pane[0]} · apns-emulator`;
  pane[1]($('main'), argument);
}

function tick() {
  const now = new Date(emulatorNow());
  $('now').textContent = `${now.toISOString().slice(0, 19).replace('T', ' ')} UTC${store.clock.frozen ? ', frozen' : ''}`;
  $('now').classList.toggle('moved', store.clock.frozen || Math.abs(store.clock.offset) > 1);
  const big = $('clock-now');
  if (big) big.textContent = preciseTime();
}

const keys = [['/', 'search'], ['j, k or arrows', 'next, previous'], ['Enter', 'into the detail'], ['Esc', 'back'], ['g then n, t, d, s', 'notifications, tokens, devices, send'], ['r', 'replay the selected one'], ['p', 'presenter view of the selected token'], ['?', 'this help']];

function helpDialog() {
  dialog('Keyboard', table(['Key', 'Does'], keys.map(([key, what]) => h('tr', {}, cells(h('kbd', {}, key), what)))));
}

let pendingGo = false;
function key(event) {
  if (event.defaultPrevented || event.metaKey || event.ctrlKey || event.altKey) return;
  const isTyping = event.target.closest('input, textarea, select, dialog');
  if (event.key === 'Escape' && !event.target.closest('dialog')) {
    if (isTyping) event.target.blur();
    else if (document.body.classList.contains('presenting')) location.hash = '#tokens';
    else if (view.element && view.element.isConnected) { select(null); view.element.focus(); }
    return;
  }
  if (isTyping) return;
  if (pendingGo) {
    pendingGo = false;
    const name = { n: 'notifications', t: 'tokens', d: 'devices', s: 'send' }[event.key];
    if (name) { location.hash = `#${name}`; return; }
  }
  const inList = view.element && view.element.isConnected;
  if (event.key === 'g') pendingGo = true;
  else if (event.key === '?') helpDialog();
  else if (event.key === 'p' && tokenView.selected && tokenView.area && tokenView.area.isConnected) location.hash = `#present/${tokenView.selected}`;
  else if (event.key === '/' && $('search')) { event.preventDefault(); $('search').focus(); }
  else if (event.key === 'r' && inList && view.selected !== null) attempt(async () => replay(await api('GET', path('notifications', String(view.selected)))));
  else if (inList && event.target !== view.element && ['j', 'k', 'Enter'].includes(event.key) && !event.target.closest('button, a, [role=tabpanel]')) listKey(event);
}

function setTheme(theme) {
  if (theme) document.documentElement.dataset.theme = theme;
}

function toggleTheme() {
  const isDark = document.documentElement.dataset.theme ? document.documentElement.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  setTheme(isDark ? 'light' : 'dark');
  try { localStorage.setItem('theme', isDark ? 'light' : 'dark'); } catch { /* private windows may have no storage */ }
}

function begin() {
  try { setTheme(localStorage.getItem('theme')); } catch { /* as above */ }
  $('theme').addEventListener('click', toggleTheme);
  $('help').addEventListener('click', helpDialog);
  $('reset').addEventListener('click', resetDialog);
  addEventListener('hashchange', route);
  addEventListener('keydown', key);
  /* Its address would be that of a pane. */
  document.querySelector('.skip').addEventListener('click', event => { event.preventDefault(); $('main').focus(); });
  addEventListener('resize', drawList);
  for (const topic of ['notifications', 'tokens', 'other']) on(topic, drawNav);
  on('other', tick);
  setInterval(tick, 1000);
  on('loaded', drawAnew);
  /* Empty lists name the ports and folders of this emulator. */
  for (const draw of [drawList, drawTokens, drawDevices]) on('loaded', draw);
  route();
  watch();
}

/* What was drawn before anything was known: a selection, or a form with suggestions. */
let firstPlace = location.hash;
function drawAnew() {
  if (firstPlace === location.hash && !/^(#notifications)?$/.test(firstPlace)) route();
  firstPlace = null;
}

begin();
