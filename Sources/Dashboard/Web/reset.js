/* What is reset. */
import { api } from './api.js';
import { button, h } from './dom.js';
import { loadAll } from './loading.js';
import { attempt, dialog, problem, problemAt } from './notices.js';

/* By the names that the API has for them. */
const parts = { notifications: 'History of notifications', advice: 'Advice', devices: 'Devices, apps and device tokens', faults: 'Fault rules', clock: 'Clock', feedback: 'Feedback', store: 'Stored notifications', channels: 'Channels' };

/* `then` draws what is left. */
export function resetDialog(then) {
  const boxes = Object.keys(parts).map(name => h('input', { type: 'checkbox', checked: !['devices', 'channels'].includes(name), value: name }));
  dialog('Choose what to reset', h('fieldset', {}, boxes.map(box => h('p', {}, h('label', {}, box, ` ${parts[box.value]}`))), problemAt('reset')), close =>
    button('Reset', () => {
      const what = boxes.filter(box => box.checked).map(box => box.value);
      if (!what.length) { problem('reset', 'choose at least one'); return; }
      attempt('reset', async () => { await api('POST', '/api/v1/reset', { what }); close(); await loadAll(); then(); }, `Reset: ${what.map(name => parts[name]).join(', ')}`);
    }, { class: 'danger' }));
}
