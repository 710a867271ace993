// What the program computed of the answer besides its weights: the guess after each layer, and which parts of A bring its
// answer back in B.

import { colourOf, textOn } from './colour.js';
import { fill, make } from './elements.js';
import { briefNumber, cellNumber, either, percent, signedCellNumber } from './labels.js';

/** A cell in the colour of its number: a word with its probability, or a share. */
function cellOf({kind, top, diverging, rows, columns, values, words}, row, column) {
  const value = values[row][column], colour = colourOf({top, diverging}, value), word = words?.[row][column];
  const name = `${rows[row]} · ${columns[column]}: ${word ? `${word} ${percent(value)}` : `${briefNumber(100 * value)} %`}`;
  return make('td', {title: name, text: word ?? (kind === 'patch' ? signedCellNumber(value) : cellNumber(value)),
    style: {background: colour, color: textOn(colour)}});
}

function tableOf(table) {
  const {kind, title, note, rows, columns} = table;
  const head = make('tr', {}, make('td'), ...columns.map((text) => make('th', {scope: 'col', text})));
  const body = rows.map((text, row) => make('tr', {}, make('th', {scope: 'row', text}), ...columns.map((_, column) => cellOf(table, row, column))));
  return make('figure', {class: 'answer-table', data: {kind}}, make('figcaption', {text: either(title)}),
    make('div', {class: 'scroll'}, make('table', {}, head, ...body)), note && make('p', {class: 'quiet', text: either(note)}));
}

/** `tables`: those of the data. They belong to the sentence as it was written, without edits. */
export function createTables(store, element, tables) {
  const sentences = () => store.answer.stacks.map(({queryTokens}) => queryTokens.map(({text}) => text).join('|')).join();
  const written = sentences(), isWritten = () => !store.isEdited() && store.edits.off === store.written.off && sentences() === written;
  return {draw() {
    element.hidden = tables.length === 0 || !isWritten();
    if (!element.hidden) fill(element, ...tables.map(tableOf));
  }};
}
