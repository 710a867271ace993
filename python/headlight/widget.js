// The page in a notebook, a module as anywidget has them (https://anywidget.dev/en/afm): what is looked at in it is the
// model's traits, in both directions. It is shut off in a frame, asked and heard by messages (tools/page/web/bridge.js).

const TRAITS = ['head', 'query', 'key', 'mask', 'off'];
const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

function frameOf(model) {
  const frame = document.createElement('iframe');
  frame.setAttribute('sandbox', 'allow-scripts');
  frame.style.cssText = 'width:100%;height:640px;border:0';
  return Object.assign(frame, {title: 'Headlight', srcdoc: model.get('html')});
}

function render({model, el}) {
  const frame = el.querySelector('iframe') ?? el.appendChild(frameOf(model));
  let told = null;  // what the page said last; null: nothing yet
  let sent = 0;     // how often it was asked: what it said before it heard of the last time is old
  let isHearing = false;
  const wanted = () => Object.fromEntries(TRAITS.map((name) => [name, model.get(name) ?? null]));
  const send = (change) => frame.contentWindow?.postMessage({headlight: change, number: sent}, '*');

  function ask() {
    if (isHearing || told === null || same(wanted(), told)) return;
    sent += 1;
    send(wanted());
  }
  function hear({source, data}) {
    if (source !== frame.contentWindow || typeof data?.headlight !== 'object') return;
    if (data.begins) sent = 0;
    else if (data.number !== sent) return;
    told = data.headlight;
    const own = wanted();
    isHearing = true;  // a model may call `ask` at each of these
    // A trait that has a value keeps it when the page begins.
    const taken = TRAITS.filter((name) => !same(own[name], told[name]) && !(data.begins && own[name] !== null));
    taken.forEach((name) => model.set(name, told[name]));
    model.set('error', data.error);
    isHearing = false;
    model.save_changes();
    ask();
  }

  const events = TRAITS.map((name) => `change:${name}`);
  for (const event of events) model.on(event, ask);
  window.addEventListener('message', hear);
  send({});  // a page that is there already begins anew
  return () => {
    window.removeEventListener('message', hear);
    for (const event of events) model.off(event, ask);
  };
}

/** The same methods as a model of anywidget, over a comm of Notebook 6. */
function modelOf(comm, state) {
  const listeners = new Map();
  let changed = {};
  comm.on_msg(({content}) => {
    Object.assign(state, content.data);
    for (const name of Object.keys(content.data)) (listeners.get(`change:${name}`) ?? []).forEach((heard) => heard());
  });
  return {
    get: (name) => state[name],
    set(name, value) { if (!same(state[name], value)) changed[name] = state[name] = value; },
    save_changes() {
      if (Object.keys(changed).length > 0) comm.send(changed);
      changed = {};
    },
    on(event, listener) { listeners.set(event, [...listeners.get(event) ?? [], listener]); },
    off(event, listener) { listeners.set(event, (listeners.get(event) ?? []).filter((one) => one !== listener)); },
  };
}

/** Connects the output of a cell of Notebook 6 with the widget that it is of, now and whenever the kernel begins. */
export function connect(id) {
  const el = document.getElementById(id), notebook = globalThis.Jupyter?.notebook;
  let end = () => {};
  function open() {
    if (!el.isConnected || !notebook.kernel?.is_connected()) return;
    const comm = notebook.kernel.comm_manager.new_comm('headlight', {id}), say = el.querySelector('.unconnected');
    end();
    comm.on_msg(({content}) => {  // the first message has all traits
      end = render({model: modelOf(comm, content.data), el});
      say.hidden = true;
    });
    comm.on_close(() => { end(); say.hidden = false; });
  }
  if (!el || !notebook) return;
  notebook.events.on('kernel_ready.Kernel', open);
  open();
}

export default {render};
