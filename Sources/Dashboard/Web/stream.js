/* The event stream, read by one tab for all tabs of a browser.

   A browser opens six connections to a host, so a stream for each tab would leave the seventh nothing to ask with.
   Whoever holds a lock reads the stream and tells the others; the lock passes on by itself when its tab goes. Each tab
   knows the last event that it saw, so the next reader begins there, and nobody takes an event twice. */
import { limits, Unreachable } from './api.js';
import { $ } from './dom.js';
import { events, happen, loadAll, startedAnew, trouble } from './loading.js';
import { notices } from './notices.js';
import { soon, store } from './store.js';

export const stream = {
  name: 'apns-emulator events',
  /* Browsers have them on loopback and over TLS. Elsewhere each tab reads for itself, while it is looked at. */
  isShared: 'locks' in navigator && 'BroadcastChannel' in window,
  channel: null, source: null, reads: false, attempt: null, release: null, timeout: null,
  /* The last event that this tab saw, and what it knows of the connection. */
  position: null, state: 'connecting',
};

export const positionOf = id => ({ boot: id.slice(0, id.lastIndexOf('-')), number: Number(id.slice(id.lastIndexOf('-') + 1)) });
export const idOf = position => position ? `${position.boot}-${position.number}` : null;

export function joinStream() {
  if (!stream.isShared) { if (!document.hidden && !stream.source) readStream(); return; }
  if (stream.channel) return askReader();
  stream.channel = new BroadcastChannel(stream.name);
  stream.channel.onmessage = ({ data }) => hear(data);
  waitForTurn();
  askReader();
}

/* For a page that is left or frozen: a connection or a lock would keep others waiting, and it out of the browser's
   memory of pages. */
export function leaveStream() {
  clearTimeout(stream.timeout);
  const { attempt, release, channel } = stream;
  Object.assign(stream, { attempt: null, release: null, channel: null });
  stopReading();
  if (attempt) attempt.abort();
  if (release) release();
  if (channel) channel.close();
}

/* Reads as soon as the lock is ours. `steal` takes it from a tab that does not answer. */
function waitForTurn(steal) {
  const attempt = new AbortController();
  if (stream.attempt) stream.attempt.abort();
  stream.attempt = attempt;
  const hold = () => new Promise(release => {
    if (stream.attempt !== attempt) return release();
    stream.release = release;
    readStream();
  });
  navigator.locks.request(stream.name, steal ? { steal: true } : { signal: attempt.signal }, hold).catch(() => {
    /* Another tab took it, as this one did not answer; given up, it is not ours to wait for any more. */
    if (stream.attempt !== attempt) return;
    stopReading();
    waitForTurn();
  });
}

/* The tab that reads must answer; it may be suspended without having been told. */
function askReader() {
  if (!stream.channel || stream.reads) return;
  stream.channel.postMessage({ ask: true });
  clearTimeout(stream.timeout);
  stream.timeout = setTimeout(() => { if (stream.channel && !stream.reads) waitForTurn(true); }, limits.reader);
}

function readStream() {
  const since = idOf(stream.position);
  const source = new EventSource('/api/v1/events' + (since ? `?since=${since}` : ''));
  Object.assign(stream, { source, reads: true });
  source.onerror = () => {
    tell({ state: 'reconnecting' });
    /* A lost connection the browser opens again by itself; a refusal is final. */
    if (source.readyState === EventSource.CLOSED) setTimeout(() => { if (stream.source === source) readStream(); }, limits.again);
  };
  for (const name of ['boot', ...Object.keys(events)]) {
    source.addEventListener(name, event => { if (stream.source === source) tell({ id: event.lastEventId, name, data: event.data }); });
  }
}

function stopReading() {
  if (stream.source) stream.source.close();
  Object.assign(stream, { source: null, reads: false });
}

function tell(message) {
  if (stream.channel) stream.channel.postMessage(message);
  hear(message);
}

/* What the reader says: what happened, or how it stands. */
function hear({ ask, state, id, name, data }) {
  if (ask) {
    if (stream.reads) stream.channel.postMessage({ state: stream.state, id: idOf(stream.position) });
    return;
  }
  clearTimeout(stream.timeout);
  const at = id ? positionOf(id) : null;
  if (name && name !== 'boot') return take(at, name, data);
  if (at) catchUp(at);
  stand(name === 'boot' ? 'live' : state);
}

const isSeen = at => stream.position !== null && stream.position.boot === at.boot && at.number <= stream.position.number;

function take(at, name, data) {
  if (isSeen(at)) return;
  stream.position = at;
  happen(name, JSON.parse(data));
}

/* The stream has come so far: what this tab has not seen of it, it asks for. */
function catchUp(at) {
  if (isSeen(at)) return;
  const before = stream.position;
  stream.position = at;
  if (before && before.boot !== at.boot) startedAnew();
  if (store.hasBegun) soon('all', loadAll);
}

function stand(state) {
  if (!state) return;
  const isNews = state === 'live' && stream.state !== 'live';
  stream.state = state;
  $('live').textContent = state;
  $('live').classList.toggle('on', state === 'live');
  if (!store.hasBegun) loadAll();
  else if (isNews && notices.has('trouble')) soon('all', loadAll);
  if (state === 'reconnecting') trouble(new Unreachable('The connection to the emulator is lost.'));
}

export function watch() {
  addEventListener('pagehide', leaveStream);
  addEventListener('pageshow', event => { if (event.persisted) joinStream(); });
  document.addEventListener('freeze', leaveStream);
  document.addEventListener('resume', joinStream);
  document.addEventListener('visibilitychange', () => {
    if (!document.hidden) joinStream();
    else if (!stream.isShared) leaveStream();
  });
  joinStream();
  /* With nobody there to hear from, what can be asked for is. */
  setTimeout(() => { if (!store.hasBegun) loadAll(); }, limits.reader);
}
