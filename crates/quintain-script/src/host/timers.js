// Time is virtual: nobody waits, the clock jumps to the next timer.
(function (expose) {
  "use strict";
  let timers = [];
  let now = 0;
  let serial = 0;
  const start = (repeat) => (callback, delay, ...values) => {
    if (typeof callback !== "function") throw new TypeError("the callback must be a function");
    const wait = Math.max(1, Number(delay) || 0);
    const id = ++serial;
    timers.push({ id, due: now + wait, every: repeat ? wait : 0, callback, values });
    return id;
  };
  const stop = (id) => { timers = timers.filter((timer) => timer.id !== id); };
  // 0: there is no timer, 1: one has run, 2: the next is due behind the limit.
  expose((limit) => {
    if (timers.length === 0) return 0;
    let next = timers[0];
    for (const timer of timers) if (timer.due < next.due) next = timer;
    if (next.due > limit) return 2;
    now = next.due;
    if (next.every) {
      next.due += next.every;
      timers.push(timers.splice(timers.indexOf(next), 1)[0]);
    } else stop(next.id);
    next.callback(...next.values);
    return 1;
  });
  const setTimeout = start(false);
  return {
    setTimeout,
    setInterval: start(true),
    setImmediate: (callback, ...values) => setTimeout(callback, 0, ...values),
    clearTimeout: stop,
    clearInterval: stop,
    clearImmediate: stop,
  };
})
