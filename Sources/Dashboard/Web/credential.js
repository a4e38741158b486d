/* What a test push proves itself with: files chosen for one push, handed to the emulator with it and kept nowhere. */
import { h } from './dom.js';
import { base64Of } from './format.js';

const isKey = name => name.toLowerCase().endsWith('.p8');

/* The key id in AuthKey_ABC123DEFG.p8; empty where the name says none. */
export const keyIdIn = name => /^AuthKey_([A-Za-z0-9._-]+)\.p8$/i.exec(name)?.[1] ?? '';

/* The fields of a form: labels and inputs for a grid. Those that make no sense for the chosen file are hidden. */
export function credentialFields() {
  const input = (name, attributes) => h('input', { id: `push-${name}`, name, autocomplete: 'off', ...attributes });
  const field = (name, label, element) => [h('label', { for: `push-${name}` }, label), element];
  const file = input('credential', { type: 'file', accept: '.p12,.pfx,.pem,.cer,.crt,.p8' });
  const keyId = input('keyId', { placeholder: 'Empty: from the name of the file' });
  const ofKey = [field('keyId', 'Key ID', keyId), field('team', 'Team ID', input('team', { placeholder: 'Empty: the team that the emulator has for the key' }))].flat();
  const ofCertificate = [
    field('credentialKey', 'Key file', input('credentialKey', { type: 'file', accept: '.key,.pem,.p12' })),
    field('password', 'Password', input('password', { type: 'password', autocomplete: 'new-password', placeholder: 'Empty: the file has none' })),
  ].flat();
  const choose = () => {
    const name = file.files[0]?.name;
    for (const element of ofKey) element.hidden = name === undefined || !isKey(name);
    for (const element of ofCertificate) element.hidden = name === undefined || isKey(name);
    if (name !== undefined && isKey(name)) keyId.value = keyIdIn(name);
  };
  file.addEventListener('change', choose);
  choose();
  return [field('credential', 'Certificate or key', file), ofKey, ofCertificate].flat();
}

/* What was chosen, as the API takes it; nothing if no file was. */
export async function credentialOf(form) {
  const bytes = async file => base64Of(new Uint8Array(await file.arrayBuffer()));
  const file = form.elements.credential.files[0];
  if (!file) return undefined;
  const text = name => form.elements[name].value;
  const credential = { file: await bytes(file), name: file.name };
  if (isKey(file.name)) {
    if (text('keyId').trim()) credential.keyId = text('keyId').trim();
    if (text('team').trim()) credential.team = text('team').trim();
    return credential;
  }
  const key = form.elements.credentialKey.files[0];
  if (key) credential.key = await bytes(key);
  if (text('password')) credential.password = text('password');
  return credential;
}

/* They were for one push. */
export function forgetCredential(form) {
  for (const name of ['credential', 'credentialKey', 'password', 'keyId', 'team']) form.elements[name].value = '';
  form.elements.credential.dispatchEvent(new Event('change'));
}
