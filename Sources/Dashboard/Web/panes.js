/* Panes that are a list: feedback, channels, connections. */
import { api } from './api.js';
import { button, cells, empty, h, show, table } from './dom.js';
import { dateTime, purpose } from './format.js';
import { tokenText } from './marks.js';
import { failed } from './notices.js';
import { on } from './store.js';

/* A pane that loads a list, shows it, and loads it again while it is looked at: now and then, or when something is
   told of its topic, but not under the hands of somebody who types in it. */
export function listPane(title, hint, load, draw, interval, topic) {
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

export const feedbackPane = listPane('Feedback', 'Tokens whose app a device has reported gone. A provider that reads the feedback service clears its topics; looking here does not.',
  () => api('GET', '/api/v1/feedback'), ({ feedback }) => feedback.length
    ? table(['Reported', 'Topic', 'Device', 'Environment', 'Token'], feedback.map(entry => h('tr', {},
      cells(dateTime(entry.timestamp), entry.topic, entry.udid, entry.environment, entry.udid ? h('a', { href: `#tokens/${entry.token}` }, tokenText(entry.token)) : tokenText(entry.token)))))
    : empty('Nothing to report', 'Remove an app on a device that is online, then push to its token: the device says that the app is gone, and the token appears here.'));

export const channelsPane = listPane('Channels', 'Broadcast channels and who listens to them now.',
  () => api('GET', '/api/v1/channels'), ({ channels }) => channels.length
    ? table(['Topic', 'Environment', 'Channel id', 'Keeps the newest', 'Listeners', 'Newest'], channels.map(channel => h('tr', {},
      cells(channel.topic, channel.environment, h('code', { class: 'break' }, channel.id), channel.storesNewest ? 'yes' : 'no', String(channel.listeners), dateTime(channel.newestAt)))))
    : empty('No channel', 'A provider creates channels with POST /1/apps/<bundle id>/channels on the gateway or feedback port, over HTTP/2.'));

export const connectionsPane = listPane('Connections', 'Every open connection, as it is now.',
  () => api('GET', '/api/v1/connections'), ({ connections }) => connections.length
    ? table(['Listener', 'From', 'TLS', 'Peer', 'About', 'Read', 'Written'], connections.map(each => h('tr', {},
      cells(each.listener, h('code', {}, each.remoteAddress), [each.tlsVersion || 'none', each.alpn ? ` · ${each.alpn}` : ''].join(''), each.peer || '–',
        purpose(each), each.bytesRead.toLocaleString(), each.bytesWritten.toLocaleString()))))
    : empty('Nobody is connected', 'Providers and devices appear here as soon as they connect.'), 2000);
