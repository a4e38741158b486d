extension Dashboard {
  /// What the page knows, and the stream that keeps it true.
  static let store = #"""
    const store = {
      info: null, notifications: new Map(), tokens: [], devices: null,
      /* Never more than the server keeps, nor more than a person looks through. */
      limit: 10000,
      clock: { now: Date.now(), at: performance.now(), frozen: false, offset: 0 },
    };

    const listeners = { notifications: [], detail: [], tokens: [], devices: [], faults: [], other: [] };
    const on = (topic, work) => listeners[topic].push(work);

    /* Many events make one redraw. */
    const waiting = new Set();
    function changed(topic, detail) {
      if (detail !== undefined) { for (const work of listeners[topic]) work(detail); return; }
      if (waiting.has(topic)) return;
      waiting.add(topic);
      setTimeout(() => { waiting.delete(topic); for (const work of listeners[topic]) work(); }, topic === 'notifications' ? 40 : 200);
    }

    function haystack(notification) {
      return [notification.topic, notification.token, notification.udid, notification.apnsId, notification.collapseId,
        notification.verdict.accepted ? '' : refusalOf(notification), notification.state, notification.identifier, JSON.stringify(notification.payload)].join(' ').toLowerCase();
    }

    function keep(notification) {
      notification.haystack = haystack(notification);
      store.notifications.set(notification.id, notification);
    }

    function trim() {
      const extra = store.notifications.size - store.limit;
      if (extra <= 0) return;
      for (const id of Array.from(store.notifications.keys()).sort((a, b) => a - b).slice(0, extra)) store.notifications.delete(id);
    }

    async function loadInfo() {
      store.info = await api('GET', '/api/v1/info');
      store.limit = Math.min(10000, store.info.counters.historyLimit);
      $('environment').textContent = store.info.environment;
      changed('other');
    }

    async function loadClock() {
      const clock = await api('GET', '/api/v1/clock').catch(() => null);
      if (clock) store.clock = { ...clock, now: Date.parse(clock.now), at: performance.now() };
      changed('other');
    }

    /* The emulator's time now: it runs on from what it was when asked. */
    function emulatorNow() {
      return store.clock.frozen ? store.clock.now : store.clock.now + (performance.now() - store.clock.at);
    }

    async function loadNotifications() {
      const found = new Map();
      let before = null;
      while (found.size < store.limit) {
        const answer = await api('GET', '/api/v1/notifications?order=newest&limit=1000' + (before ? `&before=${before}` : ''));
        for (const notification of answer.notifications) found.set(notification.id, notification);
        if (answer.notifications.length < 1000) break;
        before = answer.next;
        if (found.size === 1000) { store.notifications = new Map(found); for (const each of found.values()) keep(each); changed('notifications'); }
      }
      /* What came by the stream meanwhile is newer than what was loaded. */
      const newest = Math.max(0, ...found.keys());
      for (const [id, notification] of store.notifications) if (id > newest) found.set(id, notification);
      store.notifications = found;
      for (const notification of found.values()) keep(notification);
      changed('notifications');
    }

    async function loadTokens() {
      store.tokens = (await api('GET', '/api/v1/tokens')).tokens;
      changed('tokens');
    }

    async function loadDevices() {
      store.devices = (await api('GET', '/api/v1/devices?limit=1000')).devices;
      changed('devices');
    }

    const later = {};
    function soon(name, work, delay) {
      if (later[name]) return;
      later[name] = setTimeout(() => { later[name] = null; work().catch(() => {}); }, delay || 200);
    }

    /* Lists of devices are long, and asked for only while they are looked at: watching must not slow the work. */
    function refreshDevices() {
      if (devicesAreShown()) soon('devices', loadDevices, 1000);
      soon('info', loadInfo, 2000);
    }

    function keepToken(row) {
      const index = store.tokens.findIndex(each => each.token === row.token);
      if (index < 0) store.tokens.push(row); else store.tokens[index] = row;
      changed('tokens');
    }

    function noteDevice({ udid, environment, online }) {
      for (const row of store.tokens) if (row.udid === udid && row.environment === environment) row.online = online;
      changed('tokens');
    }

    function loadAll() {
      return Promise.all([loadInfo(), loadClock(), loadNotifications(), loadTokens(), devicesAreShown() ? loadDevices() : null]);
    }

    function live(text, isOn) {
      $('live').textContent = text;
      $('live').classList.toggle('on', isOn);
    }

    /* The browser comes back by itself after a lost connection and names the last event it got; what was missed comes
       then, or a gap, after which everything is loaded anew. */
    function watch() {
      const source = new EventSource('/api/v1/events');
      let hasBeenOpen = false;
      source.onopen = () => {
        live('live', true);
        if (hasBeenOpen) soon('all', loadAll);
        hasBeenOpen = true;
      };
      source.onerror = () => {
        live('reconnecting', false);
        if (source.readyState === EventSource.CLOSED) setTimeout(() => { watch(); soon('all', loadAll); }, 2000);
      };
      const listen = (name, work) => source.addEventListener(name, event => work(JSON.parse(event.data)));
      listen('notification', ({ notification }) => { keep(notification); trim(); changed('notifications'); });
      listen('delivery', ({ id, state }) => {
        const notification = store.notifications.get(id);
        if (notification) { notification.state = state; keep(notification); changed('notifications'); changed('detail', id); }
        refreshDevices();
      });
      listen('token', ({ row }) => { keepToken(row); refreshDevices(); });
      listen('device', event => { noteDevice(event); refreshDevices(); });
      listen('connection', () => changed('other'));
      listen('clock', () => soon('clock', loadClock));
      listen('fault', () => changed('faults'));
      listen('reset', () => soon('all', loadAll));
      listen('gap', () => soon('all', loadAll));
    }
    """#
}
