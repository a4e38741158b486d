/* Feedback, channels, connections, faults and the clock. */
/* A pane that loads a list, shows it, and loads it again while it is looked at: now and then, or when something is
   told of its topic, but not under the hands of somebody who types in it. */
function listPane(title, hint, load, draw, interval, topic) {
  let present = null;
  if (topic) on(topic, () => { if (present && document.activeElement?.tagName !== 'TEXTAREA') present(); });
  return main => {
    const area = h('div', {}, h('p', { class: 'faint' }, 'Loading…'));
    const refresh = async () => {
      if (!area.isConnected) return;
      try { show(area, draw(await load(), refresh)); } catch (error) { show(area, failed('Not here', error, refresh)); }
      if (interval) setTimeout(refresh, interval);
    };
    show(main, h('div', { class: 'bar' }, h('h2', {}, title), h('span', { class: 'space' }), interval ? null : button('Refresh', refresh)),
      h('div', { class: 'pane' }, h('p', { class: 'faint small' }, hint), area));
    present = refresh;
    refresh();
  };
}

const feedbackPane = listPane('Feedback', 'Tokens whose app a device has reported gone. A provider that reads the feedback service clears its topics; looking here does not.',
  () => api('GET', '/api/v1/feedback'), ({ feedback }) => feedback.length
    ? table(['Reported', 'Topic', 'Device', 'Environment', 'Token'], feedback.map(entry => h('tr', {},
      cells(dateTime(entry.timestamp), entry.topic, entry.udid, entry.environment, entry.udid ? h('a', { href: `#tokens/${entry.token}` }, tokenText(entry.token)) : tokenText(entry.token)))))
    : empty('Nothing to report', 'Remove an app on a device that is online, then push to its token: the device says that the app is gone, and the token appears here.'));

const channelsPane = listPane('Channels', 'Broadcast channels and who listens to them now.',
  () => api('GET', '/api/v1/channels'), ({ channels }) => channels.length
    ? table(['Topic', 'Environment', 'Channel id', 'Keeps the newest', 'Listeners', 'Newest'], channels.map(channel => h('tr', {},
      cells(channel.topic, channel.environment, h('code', { class: 'break' }, channel.id), channel.storesNewest ? 'yes' : 'no', String(channel.listeners), dateTime(channel.newestAt)))))
    : empty('No channel', 'A provider creates channels with POST /1/apps/<bundle id>/channels on the gateway or feedback port, over HTTP/2.'));

const connectionsPane = listPane('Connections', 'Every open connection, as it is now.',
  () => api('GET', '/api/v1/connections'), ({ connections }) => connections.length
    ? table(['Listener', 'From', 'TLS', 'Peer', 'About', 'Read', 'Written'], connections.map(each => h('tr', {},
      cells(each.listener, h('code', {}, each.remoteAddress), [each.tlsVersion || 'none', each.alpn ? ` · ${each.alpn}` : ''].join(''), each.peer || '–',
        each.devices ? each.devices.join(', ') : each.streams !== undefined ? `${each.streams} streams` : each.serverName || '–', each.bytesRead.toLocaleString(), each.bytesWritten.toLocaleString()))))
    : empty('Nobody is connected', 'Providers and devices appear here as soon as they connect.'), 2000);

/* What a rule does, as a person would say it. */
function inWords({ when, effect }) {
  const strikes = !when ? 'always' : when.next ? `the next ${when.next === 1 ? 'one' : when.next}` : when.every ? `every ${when.every}` : when.probability ? `${when.probability * 100} % of them` : 'for some time';
  const what = Object.entries(effect).map(([name, value]) => ({
    reason: value, delayMs: `${value} ms late`, jitterMs: `up to ${value} ms more`, goaway: `GOAWAY${value.reason ? ` ${value.reason}` : ''}`, reset: 'TCP reset',
    refuse: 'new connections are refused', courier: value === 'drop' ? 'the device is lost at delivery' : 'the device stalls',
  })[name] || name);
  return `${strikes}: ${what.join(', ')}`;
}

let faultDraft = '{\n  "name": "mine",\n  "match": {"interface": "provider"},\n  "when": {"next": 2},\n  "effect": {"reason": "ServiceUnavailable"}\n}';
const faultsPane = listPane('Faults', 'What goes wrong on purpose. Rules are looked at in this order, and the first that strikes is the only one. Magic tokens need no rule: the ASCII of !BadDeviceToken, !delay=500 or !reset, filled up with zeros to 32 bytes.',
  () => api('GET', '/api/v1/faults'), ({ faults, presets }, refresh) => {
    const act = (work, done) => attempt(async () => { await work(); await refresh(); }, done);
    const editor = h('textarea', { rows: 6, 'aria-label': 'Rule', spellcheck: 'false', value: faultDraft, oninput: event => { faultDraft = event.target.value; } });
    return [
      faults.length ? table(['Name', 'Match', 'When', 'Effect', 'Hits', 'Actions'], faults.map(rule => h('tr', {},
        cells(rule.name, h('code', {}, JSON.stringify(rule.match)), h('code', {}, rule.when ? JSON.stringify(rule.when) : 'always'), h('code', {}, JSON.stringify(rule.effect)), `${rule.hits} of ${rule.seen}`),
        h('td', {}, h('div', { class: 'row' }, h('label', { class: 'inline' }, h('input', { type: 'checkbox', checked: rule.enabled, onchange: event => act(() => api('POST', '/api/v1/faults', { name: rule.name, enabled: event.target.checked })) }), ' on'),
          button('Delete', () => act(() => api('DELETE', path('faults', rule.name))), { class: 'danger' }))))))
        : empty('All is well', 'Add a rule below and see how your provider takes it.'),
      h('h3', {}, 'Add a common one'), h('div', { class: 'presets' }, presets.map(rule => h('div', {},
        button(rule.name, () => act(() => api('POST', '/api/v1/faults', { preset: rule.name }), `${rule.name} added`), { 'aria-describedby': `preset-${rule.name}` }), h('small', { id: `preset-${rule.name}` }, inWords(rule))))),
      h('h3', {}, 'Or your own'), editor, h('div', { class: 'row' }, button('Add', () => act(() => api('POST', '/api/v1/faults', JSON.parse(editor.value)), 'Added'), { class: 'primary' }))];
  }, null, 'faults');

const preciseTime = () => new Date(emulatorNow()).toISOString().replace('T', ' ').replace('Z', ' UTC');

function clockPane(main) {
  const put = (change, done) => attempt(async () => { await api('PUT', '/api/v1/clock', change); await loadClock(); draw(); }, done);
  const area = h('div', { class: 'pane' });
  const draw = () => {
    const { frozen, offset } = store.clock;
    const moment = h('input', { type: 'datetime-local', step: 1, 'aria-label': 'Set the clock', value: new Date(emulatorNow()).toISOString().slice(0, 19) });
    show(area, h('div', { class: 'card' },
      facts([['Now', h('strong', { id: 'clock-now' }, preciseTime())], ['Offset', offset ? `${duration(offset * 1000)} from the system’s clock` : 'none, it is the system’s time'], ['Runs', frozen ? 'no, it is frozen' : 'yes']]),
      h('div', { class: 'row' }, ['1m', '61m', '1d', '30d'].map(step => button(`+${step}`, () => put({ advance: step }, `Advanced by ${step}`))),
        button(frozen ? 'Let it run' : 'Freeze', () => put({ freeze: !frozen })),
        button('Back to the system’s time', () => attempt(async () => { await api('POST', '/api/v1/reset', { what: ['clock'] }); await loadClock(); draw(); }))),
      h('form', { class: 'bar', onsubmit: event => { event.preventDefault(); put({ set: `${moment.value.length === 16 ? moment.value + ':00' : moment.value}Z` }, 'Set'); } }, h('span', {}, 'UTC'), moment, h('button', {}, 'Set'))),
    h('p', { class: 'faint small' }, 'One clock drives every expiry: kept messages, provider tokens (one hour), certificates, and the times shown here.'));
  };
  show(main, h('div', { class: 'bar' }, h('h2', {}, 'Clock')), area);
  draw();
}

function resetDialog() {
  const parts = ['notifications', 'devices', 'faults', 'clock', 'feedback', 'store', 'channels'];
  const boxes = parts.map(name => h('input', { type: 'checkbox', checked: !['devices', 'channels'].includes(name), value: name }));
  dialog('What shall be forgotten?', h('fieldset', {}, parts.map((name, index) => h('p', {}, h('label', {}, boxes[index], ` ${name}`)))), close =>
    button('Reset', () => {
      const what = boxes.filter(box => box.checked).map(box => box.value);
      close();
      if (what.length) attempt(async () => { await api('POST', '/api/v1/reset', { what }); await loadAll(); route(); }, `Reset: ${what.join(', ')}`);
    }, { class: 'danger' }));
}
