/* Words of a shell. */

export const quote = text => `'${text.replaceAll("'", "'\\''")}'`;
export const word = text => /^[\w@%+=:,./-]+$/.test(text) ? text : quote(text);
export const octal = bytes => Array.from(bytes, byte => '\\' + byte.toString(8).padStart(3, '0')).join('');
