/* One notification: tabs, copy as a command, replay. */
const tabs = { Preview: previewPanel, Payload: payloadPanel, Headers: headersPanel, Raw: rawPanel, Verdict: verdictPanel, Timeline: timelinePanel };
let openTab = 'Preview';

async function showDetail(id) {
  const pane = view.detail;
  if (id === null) {
    return show(pane, empty('Nothing selected', 'Choose a notification with the mouse, or with j and k; it shows here as a phone, a payload, bytes and a verdict.'));
  }
  try {
    const notification = await api('GET', path('notifications', String(id)));
    if (view.selected === id) drawDetail(notification);
  } catch (error) {
    if (view.selected === id) show(pane, failed('Gone', error, () => showDetail(id)));
  }
  return undefined;
}

function drawDetail(notification) {
  const pane = view.detail;
  const panel = h('div', { role: 'tabpanel', id: 'panel', tabindex: 0 });
  const list = h('div', { role: 'tablist', 'aria-label': 'Parts' });
  const draw = name => {
    openTab = name;
    for (const tab of list.children) {
      tab.setAttribute('aria-selected', String(tab.textContent === name));
      tab.tabIndex = tab.textContent === name ? 0 : -1;
    }
    panel.setAttribute('aria-label', name);
    list.querySelector('[aria-selected=true]').scrollIntoView({ block: 'nearest', inline: 'nearest' });
    show(panel, tabs[name](notification));
  };
  for (const name of Object.keys(tabs)) {
    list.append(h('button', { type: 'button', role: 'tab', 'aria-controls': 'panel', onclick: () => draw(name), onkeydown: event => {
      const names = Object.keys(tabs);
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      const next = (names.indexOf(name) + step + names.length) % names.length;
      draw(names[next]);
      list.children[next].focus();
    } }, name));
  }
  show(pane, h('div', { class: 'detail-head' },
    h('div', { class: 'row' }, button('← List', () => select(null), { class: 'only-narrow' }), h('h2', {}, headline(notification))),
    h('div', { class: 'row' }, stateBadge(notification.state), h('span', { class: 'faint small break' },
      `#${notification.id} · ${notification.topic || 'no topic'} · ${isBroadcast(notification) ? `broadcast to ${notification.channelId || 'no channel'}` : notification.udid || 'unknown device'} · ${dateTime(notification.receivedAt)}`)),
    againRow(notification)),
  list, panel);
  draw(openTab);
}

/* To send it again; what can't be done says why. */
function againRow(notification) {
  const reasons = [commandProblem(notification), replayProblem(notification)];
  const about = index => reasons[index] ? { disabled: true, 'aria-describedby': 'why-not' } : {};
  return [h('div', { class: 'row' },
    button(isFrameCommand(notification) ? 'Copy as openssl' : 'Copy as curl', () => copy(commandFor(notification), 'Command'), about(0)),
    button('Replay', () => replay(notification), about(1)), button('Edit and replay', () => editAndReplay(notification), about(1))),
  reasons.some(Boolean) ? h('p', { class: 'faint small', id: 'why-not' }, Array.from(new Set(reasons.filter(Boolean))).join(' ')) : null];
}

function headersPanel(notification) {
  const to = isBroadcast(notification) ? [['Channel id', h('code', { class: 'break' }, notification.channelId || '–')]]
    : [['Device token', h('code', { class: 'break' }, notification.token || '–')], ['Device', notification.udid || 'unknown']];
  const sent = [['Topic', notification.topic], ['Environment', notification.environment], ...to, ['Push type', notification.pushType], ['Priority', String(notification.priority)],
    ['Expiration', notification.expiration ? dateTime(notification.expiration) : 'none given: kept 30 days'],
    ['apns-id', notification.apnsId || '–'], ['Collapse id', notification.collapseId || '–']];
  if (notification.interface === 'gateway') sent.push(['Command', String(notification.command)], ['Identifier', notification.identifier === null ? 'none in command 0' : String(notification.identifier)]);
  return [facts(sent.map(([name, value]) => [name, value || '–'])),
    notification.headers.length ? [h('h3', {}, 'Header fields'), table(['Name', 'Value'], notification.headers.map(({ name, value }) =>
      h('tr', {}, cells(h('code', {}, name), h('code', { class: 'break' }, value)))))] : h('p', { class: 'faint small' }, 'The binary protocol has no header fields.')];
}

function verdictPanel(notification) {
  const { accepted, status, reason, legacyStatus, explanation } = notification.verdict;
  const heading = h('p', { class: accepted ? 'good' : 'bad' }, h('strong', {}, outcomeOf(notification)));
  const why = explanation ? h('p', {}, sentence(explanation)) : null;
  if (status === null) return [heading, why, facts([['To the provider', 'no answer'], ['State', stateBadge(notification.state)]])];
  return [heading, why,
    facts([['On HTTP/2', accepted ? '200' : `${status} {"reason":"${reason}"}`],
      ['On the gateway', accepted ? 'silence' : notification.interface === 'gateway' && notification.command === 0 ? 'closes without an error packet (command 0)' : `error packet, status ${legacyStatus}`],
      ['State', stateBadge(notification.state)]])];
}

const hops = ['provider', 'gateway', 'store', 'device'];

function timelinePanel(notification) {
  const events = notification.timeline.map(step => step.event);
  const reached = new Set(['provider', 'gateway']);
  if (events.includes('stored')) reached.add('store');
  if (events.includes('sent') || events.includes('acknowledged')) reached.add('device');
  const way = hops.map((hop, index) => [
    index ? h('span', { class: `arrow ${reached.has(hop) ? 'on' : ''}`, 'aria-hidden': 'true' }, '→') : null,
    h('span', { class: `hop ${reached.has(hop) ? 'on' : ''} ${hop === 'gateway' && !notification.verdict.accepted ? 'end' : ''}` },
      hop === 'gateway' ? { gateway: 'gateway', provider: 'provider API', console: 'console' }[notification.interface] : hop)]);
  const start = Date.parse(notification.timeline[0].at);
  return [h('div', { class: 'way', role: 'group', 'aria-label': 'Way' }, way), h('ol', { class: 'steps' }, notification.timeline.map(step =>
    h('li', {}, h('span', { class: 'faint mono' }, clockTime(step.at)), h('strong', {}, step.event),
      h('span', {}, step.detail, h('span', { class: 'faint' }, Date.parse(step.at) > start ? `  +${duration(Date.parse(step.at) - start)}` : '')))))];
}

const quote = text => `'${text.replaceAll("'", "'\\''")}'`;
const octal = bytes => Array.from(bytes, byte => '\\' + byte.toString(8).padStart(3, '0')).join('');
const mayPush = topic => store.info !== null && (store.info.certificates || []).includes(topic);
const isOpen = listener => store.info !== null && listener in store.info.listeners;
const fieldOf = (notification, name) => (notification.headers.find(each => each.name === name) || { value: '' }).value;
const isBroadcast = notification => notification.interface === 'provider' && fieldOf(notification, ':path').startsWith('/4/broadcasts/');
const isFrameCommand = notification => notification.interface === 'gateway' && mayPush(notification.topic) && isOpen('gateway');
const isRequestCommand = notification => notification.interface !== 'gateway' && mayPush(notification.topic) && isOpen('provider');

/* Why it can't be sent again as a test push; null if it can. */
function replayProblem(notification) {
  if (isBroadcast(notification)) return 'A broadcast goes to a channel and a replay to a device token; copy it as curl instead.';
  const isToken = /^([0-9a-f]{2}){1,100}$/.test(notification.token);
  if (!notification.topic || !isToken) return `It can’t be replayed, as it came without ${isToken ? 'a topic' : 'a device token'}.`;
  return null;
}

/* Why there is no command that sends it; null if there is. */
function commandProblem(notification) {
  if (isFrameCommand(notification) || isRequestCommand(notification)) return null;
  if (!isBroadcast(notification)) return replayProblem(notification);
  if (!isOpen('provider')) return 'It can’t be copied as curl, as the provider port is off.';
  return `It can’t be copied as curl, as there is no push certificate for ${notification.topic || 'its bundle id'}.`;
}

/* The same push from a shell: to the port it came in on, with the certificate that was issued for its topic; where
   there is none, as a test push, so that it always works as pasted. */
function commandFor(notification) {
  if (isFrameCommand(notification)) return opensslCommand(notification);
  if (isRequestCommand(notification)) return curlCommand(notification);
  const url = `${location.origin}/api/v1/push`;
  return `curl -sS -H 'Content-Type: application/json' --data-raw ${quote(JSON.stringify(pushOf(notification)))} ${quote(url)}`;
}

const identityOf = topic => [`${store.info.certs}/push/${topic}.pem`, `${store.info.certs}/push/${topic}.key`].map(quote);
/* Apple's names say the environment; without one it is the emulator's. */
const appleName = (service, environment) => `${service}${environment === 'sandbox' ? '.sandbox' : ''}.push.apple.com`;

function opensslCommand(notification) {
  const { listeners: ports, ca } = store.info;
  const [certificate, key] = identityOf(notification.topic);
  return `(printf '${octal(bytesOf(notification.rawBase64))}'; sleep 1) | openssl s_client -quiet -no_ign_eof -connect ${ports.gateway.host}:${ports.gateway.port} `
    + `-servername ${appleName('gateway', notification.environment)} -CAfile ${quote(ca)} -cert ${certificate} -key ${key}`;
}

function curlCommand(notification) {
  const { listeners: ports, ca, environment } = store.info;
  const [certificate, key] = identityOf(notification.topic);
  const bytes = bytesOf(notification.payloadBase64);
  const isText = hexOf(new TextEncoder().encode(textOf(bytes))) === hexOf(bytes);
  const fields = notification.headers.filter(({ name }) => !name.startsWith(':') && !['authorization', 'content-length'].includes(name))
    .map(({ name, value }) => `-H ${quote(value === '' ? `${name};` : `${name}: ${value}`)}`);
  const way = isBroadcast(notification) ? fieldOf(notification, ':path') : `/3/device/${notification.token}`;
  const target = notification.environment === environment ? [quote(`https://localhost:${ports.provider.port}${way}`)]
    : [`--connect-to ::localhost:${ports.provider.port}`, quote(`https://${appleName('api', notification.environment)}${way}`)];
  return (isText ? '' : `printf '${octal(bytes)}' | `) + ['curl -sS --http2 -i', `--cacert ${quote(ca)}`, `--cert ${certificate}`, `--key ${key}`, ...fields,
    isText ? `--data-raw ${quote(textOf(bytes))}` : '--data-binary @-', ...target].join(' \\\n  ');
}

function pushOf(notification) {
  const push = {
    protocol: notification.interface === 'gateway' ? 'legacy' : 'http2', token: notification.token, topic: notification.topic,
    environment: notification.environment, payloadBase64: notification.payloadBase64, priority: notification.priority,
  };
  if (notification.expiration) push.expiration = Math.floor(Date.parse(notification.expiration) / 1000);
  if (push.protocol === 'legacy') return { ...push, command: notification.command, identifier: notification.identifier || 0 };
  if (notification.collapseId) push.collapseId = notification.collapseId;
  return { ...push, pushType: notification.pushType };
}

async function replay(notification) {
  const problem = replayProblem(notification);
  if (problem) return toast(problem);
  const again = await attempt(() => api('POST', '/api/v1/push', pushOf(notification), limits.push));
  if (!again) return undefined;
  keep(again);
  changed('notifications');
  toast(again.verdict.accepted ? `Replayed as #${again.id}: ${again.state}` : `Replayed as #${again.id}: ${refusalOf(again)}`);
  return undefined;
}

function editAndReplay(notification) {
  drafts.push = { ...pushOf(notification), text: textOf(bytesOf(notification.payloadBase64)) };
  location.hash = '#send';
}

on('detail', id => { if (id === view.selected && view.detail && view.detail.isConnected) soon('detail', () => showDetail(id)); });
