/* The beginning, the clock in the head, and the theme. */
import { preciseTime } from './clock.js';
import { drawDevices } from './devices.js';
import { $ } from './dom.js';
import { helpDialog, key } from './keys.js';
import { drawList } from './list.js';
import { drawNav, route } from './navigation.js';
import { resetDialog } from './reset.js';
import { emulatorNow, on, store } from './store.js';
import { watch } from './stream.js';
import { drawTokens } from './tokens.js';

function tick() {
  const now = new Date(emulatorNow());
  $('now').textContent = `${now.toISOString().slice(0, 19).replace('T', ' ')} UTC${store.clock.frozen ? ', frozen' : ''}`;
  $('now').classList.toggle('moved', store.clock.frozen || Math.abs(store.clock.offset) > 1);
  const big = $('clock-now');
  if (big) big.textContent = preciseTime();
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
  $('reset').addEventListener('click', () => resetDialog(route));
  addEventListener('hashchange', route);
  addEventListener('keydown', key);
  /* Its address would be that of a pane. */
  document.querySelector('.skip').addEventListener('click', event => { event.preventDefault(); $('main').focus(); });
  addEventListener('resize', drawList);
  for (const topic of ['notifications', 'tokens', 'advice', 'other']) on(topic, drawNav);
  on('other', tick);
  setInterval(tick, 1000);
  on('loaded', drawAnew);
  /* Empty lists name the ports and folders of this emulator. */
  for (const draw of [drawList, drawTokens, drawDevices]) on('loaded', draw);
  route();
  firstPlace = location.hash;
  watch();
}

/* What was drawn before anything was known: a selection, or a form with suggestions. */
let firstPlace = null;

function drawAnew() {
  if (firstPlace === location.hash && !/^(#notifications)?$/.test(firstPlace)) route();
  firstPlace = null;
}

begin();
