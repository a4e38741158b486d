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
      try { show(area, draw(await load(), refresh)); } catch (error) { show(area, failed(`${title} could not be loaded`, error, refresh)); }
      if (interval) setTimeout(refresh, interval);
    };
    show(main, h('div', { class: 'bar' }, h('h2', {}, title), h('span', { class: 'space' }), interval ? null : button('Refresh', refresh)),
      h('div', { class: 'pane' }, h('p', { class: 'faint small' }, hint), area));
    present = refresh;
    refresh();
  };
}

export const feedbackPane = listPane('Feedback', 'Device tokens whose app was removed, as a device reported. A provider that reads the feedback service clears the entries of its topics. This page does not.',
  () => api('GET', '/api/v1/feedback'), ({ feedback }) => feedback.length
    ? table(['Reported', 'Topic', 'Device', 'Environment', 'Token'], feedback.map(entry => h('tr', {},
      cells(dateTime(entry.timestamp), entry.topic, entry.udid, entry.environment, entry.udid ? h('a', { href: `#tokens/${entry.token}` }, tokenText(entry.token)) : tokenText(entry.token)))))
    : empty('Nothing to report', 'Remove an app on a device that is online, then push to its token. The device reports that the app is gone, and the token appears here.'));

export const channelsPane = listPane('Channels', 'Broadcast channels, and how many connected devices subscribe to them.',
  () => api('GET', '/api/v1/channels'), ({ channels }) => channels.length
    ? table(['Topic', 'Environment', 'Channel id', 'Stores the newest', 'Subscribers', 'Newest'], channels.map(channel => h('tr', {},
      cells(channel.topic, channel.environment, h('code', { class: 'break' }, channel.id), channel.storesNewest ? 'yes' : 'no', String(channel.listeners), dateTime(channel.newestAt)))))
    : empty('No channels yet', 'A provider creates channels with POST /1/apps/<bundle id>/channels on the gateway or feedback port, over HTTP/2.'));

export const connectionsPane = listPane('Connections', 'All open connections, updated every two seconds.',
  () => api('GET', '/api/v1/connections'), ({ connections }) => connections.length
    ? table(['Listener', 'From', 'TLS', 'Peer', 'Purpose', 'Bytes read', 'Bytes written'], connections.map(each => h('tr', {},
      cells(each.listener, h('code', {}, each.remoteAddress), [each.tlsVersion || 'none', each.alpn ? ` · ${each.alpn}` : ''].join(''), each.peer || '–',
        purpose(each), each.bytesRead.toLocaleString(), each.bytesWritten.toLocaleString()))))
    : empty('No connections', 'Providers and devices appear here as soon as they connect.'), 2000);
