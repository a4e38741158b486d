extension Dashboard {
  /// The token map, and how a token comes to be.
  static let tokens = #"""
    const tokenView = { most: 300, text: '', selected: null, area: null, table: null, detail: null };

    function tokensPane(main, argument) {
      tokenView.area = h('div', {});
      tokenView.detail = h('div', {});
      show(main, h('div', { class: 'bar' }, h('h2', {}, 'Token map'),
        h('input', { type: 'search', id: 'search', placeholder: 'UDID, topic or token', 'aria-label': 'Search tokens', value: tokenView.text,
          oninput: event => { tokenView.text = event.target.value.trim().toLowerCase(); drawTokens(); } })),
      h('div', { class: 'pane' },
        h('p', { class: 'faint small' }, 'A token belongs to one app on one device in one environment, for one install. Providers know only the token.'),
        tokenView.detail, tokenView.area));
      if (argument) tokenView.selected = argument;
      drawTokens();
      if (tokenView.selected) explain(tokenView.selected);
    }

    function drawTokens() {
      if (!tokenView.area || !tokenView.area.isConnected) return;
      const rows = store.tokens.filter(row => `${row.udid} ${row.topic} ${row.token} ${row.environment}`.toLowerCase().includes(tokenView.text));
      if (!rows.length) {
        show(tokenView.area, store.tokens.length ? empty('Nothing matches', 'Try a part of the UDID, the topic or the token.')
          : empty('No token yet', 'A token is made when an app registers on a device. Start a simulated phone, or install an app on one:',
            h('pre', {}, 'apns-emulator device --udid my-phone --topic com.example.app'), installForm()));
        return;
      }
      show(tokenView.area, table(['Device', 'Topic', 'Environment', 'Install', 'Token', 'State', ''], rows.slice(0, tokenView.most).map(tokenRow)),
        rows.length > tokenView.most ? h('p', { class: 'faint' }, `and ${rows.length - tokenView.most} more; search to narrow them down`) : null, installForm());
    }

    const stateOf = row => row.state === 'gone' ? `gone since ${dateTime(row.goneAt)}` : row.installed ? 'active' : 'app removed, not yet reported';

    function tokenRow(row) {
      const open = () => { tokenView.selected = row.token; explain(row.token); drawTokens(); };
      return h('tr', { class: 'pick', 'aria-selected': String(row.token === tokenView.selected), onclick: open },
        cells([row.udid, ' ', onlineDot(row.online)], row.topic, row.environment, String(row.install)),
        h('td', {}, h('button', { type: 'button', class: 'mono', onclick: event => { event.stopPropagation(); open(); }, 'aria-label': `Explain token ${row.token}` }, short(row.token))),
        h('td', { class: row.state === 'gone' ? 'bad' : row.installed ? 'good' : 'warn' }, stateOf(row)),
        h('td', {}, button('Copy', event => { event.stopPropagation(); copy(row.token, 'Token'); })));
    }

    const fieldMeaning = {
      label: text => `says what kind of token this is: “${text}”`, environment: (_, row) => row.environment,
      install: (_, row) => `install ${row.install}: counts how often the app was installed on this device`,
      topicHash: (_, row) => `SHA-1 of “${row.topic}”, all that the device protocol carries of a topic`, udid: (_, row) => `the device: “${row.udid}”`,
    };

    function asciiOf(hex) {
      return hex.match(/../g).map(pair => parseInt(pair, 16)).filter(byte => byte > 31 && byte < 127).map(byte => String.fromCharCode(byte)).join('');
    }

    async function explain(token) {
      const row = await api('GET', path('tokens', token)).catch(error => { show(tokenView.detail, empty('Unknown token', error.message)); });
      if (!row || tokenView.selected !== token) return;
      const earlier = store.tokens.filter(other => other.udid === row.udid && other.topic === row.topic && other.environment === row.environment);
      const before = earlier.find(other => other.install === row.install - 1);
      const after = earlier.filter(other => other.install > row.install).pop();
      const fields = row.derivation.message.map(({ field, hex }, index) => h('div', { class: `field f${index % 7 + 1} ${before && field === 'install' ? 'changed' : ''}` },
        h('strong', {}, field), h('span', { class: 'small' }, ` · ${(fieldMeaning[field] || (() => ''))(asciiOf(hex), row)}`), h('br', {}), h('code', { class: 'break' }, hex)));
      show(tokenView.detail, h('section', { class: 'card', 'aria-label': 'Derivation' },
        h('div', { class: 'row' }, h('h2', {}, `${row.topic} on ${row.udid}`), h('span', { class: 'space' }), appActions(row),
          button('Close', () => { tokenView.selected = null; show(tokenView.detail); drawTokens(); })),
        h('ol', { class: 'derive' },
          h('li', {}, h('p', {}, 'What the token stands for'), fields),
          h('li', {}, h('p', {}, 'One after the other they are the message'), h('div', { class: 'field message' }, h('code', { class: 'break' },
            row.derivation.message.map(({ hex }, index) => h('span', { class: `f${index % 7 + 1}` }, hex))))),
          h('li', {}, h('p', {}, `${row.derivation.function} of it, under ${row.derivation.key}, is the device token`),
            h('div', { class: 'field result' }, h('code', { class: 'break' }, row.token)),
            row.derivation.isOurs ? null : h('p', { class: 'warn small' }, 'This one is not what the function gives here: it was imported, and comes from another emulator’s secret.'))),
        before ? h('p', { class: 'small' }, 'Compared with the install before only the marked field differs, and the token is another: ', h('code', {}, short(before.token)), ` (${stateOf(before)}).`) : null,
        after ? h('p', { class: 'small warn' }, 'Installed again since: ', h('a', { href: `#tokens/${after.token}` }, h('code', {}, short(after.token))), `, install ${after.install}.`) : null,
        earlier.length > 1 ? table(['Install', 'Token', 'Issued', 'State'], earlier.map(other => h('tr', {},
          cells(String(other.install), h('code', {}, short(other.token)), dateTime(other.issuedAt), stateOf(other))))) : null));
    }

    function appPath(row, action) { return path('devices', row.udid, 'apps', row.topic, action) + `?environment=${row.environment}`; }

    /* What a person can do to the app; the answer is the row of the token that the app has then. */
    function appActions(row) {
      const act = (action, done) => () => attempt(async () => {
        const after = await api('POST', appPath(row, action));
        await loadTokens();
        if (tokenView.selected === row.token && action !== 'remove') { tokenView.selected = after.token; }
        if (tokenView.detail && tokenView.detail.isConnected && tokenView.selected) explain(tokenView.selected);
      }, done);
      if (!row.installed) return button('Install again', act('install', 'Installed: another token'));
      return [button('Update', act('update', 'Updated: the token stays')), button('Reinstall', act('reinstall', 'Reinstalled: another token')),
        button('Remove', act('remove', 'Removed: providers hear of it at the next push'), { class: 'danger' })];
    }

    function installForm() {
      const udid = h('input', { 'aria-label': 'UDID', placeholder: 'UDID, for example my-phone', required: true, pattern: '[A-Za-z0-9_\\-][A-Za-z0-9._\\-]{0,63}' });
      const topic = h('input', { 'aria-label': 'Topic', placeholder: 'com.example.app', required: true });
      return h('form', { class: 'bar', onsubmit: event => {
        event.preventDefault();
        attempt(async () => {
          const row = await api('POST', path('devices', udid.value, 'apps', topic.value, 'install'));
          await loadTokens();
          tokenView.selected = row.token;
          location.hash = '#tokens';
          if (tokenView.detail && tokenView.detail.isConnected) explain(row.token);
        }, 'Installed');
      } }, h('strong', {}, 'Install an app'), udid, topic, h('button', { class: 'primary' }, 'Install'));
    }

    on('tokens', () => { drawTokens(); if (tokenView.selected && tokenView.detail && tokenView.detail.isConnected) explain(tokenView.selected); });
    """#
}
