/* Commands that work as printed, wherever they are pasted and however the emulator was started. */
import { button, h } from './dom.js';
import { copy } from './notices.js';
import { quote, word } from './shell.js';
import { store } from './store.js';

const defaultPorts = { gateway: 2195, feedback: 2196, provider: 2197, courier: 5223, console: 8790 };

/* A ports file of our own, for an emulator on other ports that wrote none. */
const ownPortsFile = ({ listeners }) => `/tmp/apns-emulator-${listeners.console.port}.json`;

const isDefault = ({ listeners }) => Object.entries(defaultPorts).every(([name, port]) => listeners[name] && listeners[name].port === port && listeners[name].host === '127.0.0.1');

/* Flags by which a command finds this emulator and its certificates. */
function reach() {
  const { info } = store;
  if (!info) return '';
  const file = info.portsFile || (isDefault(info) ? null : ownPortsFile(info));
  return file ? ` --ports-file ${word(file)}` : ` --certs ${word(info.certs)}`;
}

/* What must be done first, once, in the same shell. */
function preparation() {
  const { info } = store;
  if (!info || info.portsFile || isDefault(info)) return '';
  const document = { ...info.listeners, ca: info.ca, certs: info.certs };
  return `printf '%s' ${quote(JSON.stringify(document))} > ${word(ownPortsFile(info))}\n`;
}

const access = () => store.info?.needsAccess ? ' --access "$ACCESS"' : '';
export const deviceCommand = (udid = 'my-phone') => `${preparation()}apns-emulator device --udid ${word(udid)} --topic com.example.app${reach()}`;
export const pushCommand = () => `${preparation()}apns-emulator push my-phone com.example.app '{"aps":{"alert":"Hello"}}'${reach()}${access()}`;

/* A request to the API from a shell. */
export const postCommand = (path, body) => `curl -sS -H 'Content-Type: application/json'${store.info?.needsAccess ? ' -H "Authorization: Bearer $ACCESS"' : ''} --data-raw ${quote(JSON.stringify(body))} ${quote(location.origin + path)}`;

export function commandBlock(text) {
  return h('div', { class: 'command' }, h('pre', { tabindex: 0, role: 'group', 'aria-label': 'Command' }, text), button('Copy', () => copy(text, 'Command')),
    text.includes('$ACCESS') ? h('p', { class: 'small' }, 'First set ACCESS to the access token that serve printed after “access=”.') : null);
}
