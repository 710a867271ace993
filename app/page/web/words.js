// The words of the page. They come with its data, from the tables of the window; nothing is worded here.

let table = {en: {}, zh: {}}, language = 'en';

export function setWords(words) { table = words; }
export function setLanguage(name) { language = name === 'zh' ? 'zh' : 'en'; }
export function currentLanguage() { return language; }

/** The words of this name in the reader's language; `{0}`, `{1}` … stand for `values`. */
export function say(name, ...values) {
  const text = table[language][name] ?? name;
  return values.length === 0 ? text : text.replace(/\{(\d)\}/g, (whole, i) => String(values[i] ?? whole));
}

/** One of two texts that the data has in both languages. */
export function either(both) { return both[language] ?? both.en; }
