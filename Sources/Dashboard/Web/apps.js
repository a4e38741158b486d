/* Apps on devices, and what a person can do to them. */
import { api, path } from './api.js';
import { button, h } from './dom.js';
import { dateTime } from './format.js';
import { loadTokens } from './loading.js';
import { attempt, problemAt } from './notices.js';

/* All installs of an app on a device, or all tokens of one context of its topic; oldest first. */
export async function installsOf({ udid, topic, environment, context }) {
  const words = new URLSearchParams({ udid, topic, environment });
  return (await api('GET', `/api/v1/tokens?${words}`)).tokens.filter(row => row.context === context).sort((a, b) => a.install - b.install);
}

/* What a token is for: its topic, and what of it. */
export const subjectOf = row => row.context ? [row.topic, ' ', h('span', { class: 'badge' }, row.context)] : row.topic;

export const stateOf = row => row.state === 'gone' ? `gone since ${dateTime(row.goneAt)}` : row.installed ? 'active' : 'app removed, not yet reported';
export const standing = row => row.state === 'gone' ? 'bad' : row.installed ? 'good' : 'warn';
function appPath(row, action) { return path('devices', row.udid, 'apps', row.topic, action) + `?environment=${row.environment}`; }

/* What a person can do to the app, if this is its newest install; `then` gets the row of the token that it has afterwards. */
export function appActions(row, installs, then) {
  const place = `app ${row.udid} ${row.topic} ${row.environment}`;
  const act = (action, done) => () => attempt(place, async () => {
    const after = await api('POST', appPath(row, action));
    await loadTokens();
    if (then) then(after);
  }, done);
  if (row.context || installs.some(other => other.install > row.install)) return null;
  if (!row.installed) return [button('Install again', act('install', 'Installed with a new token')), problemAt(place)];
  return [button('Update', act('update', 'Updated; the token stays the same')), button('Reinstall', act('reinstall', 'Reinstalled with a new token')),
    button('Remove', act('remove', 'Removed; the device reports it at the next push'), { class: 'danger' }), problemAt(place)];
}
