/** How far the clock of `performance.now()` is from the time of day, ms. */
let offset = performance.timeOrigin;
let comparedAt = performance.now();
/** The last second that was written, which most times fall into. */
let second = Number.NaN;
let written = "";

/** A moment of `performance.now()` as Kubernetes writes it (`metav1.MicroTime`): `2026-11-21T17:33:10.123456Z`. */
export function microTime(moment: number): string {
  const now = performance.now();
  if (now - comparedAt > 1000) compare(now);
  const micros = Math.floor((offset + moment) * 1000);
  const whole = Math.floor(micros / 1e6);
  if (whole !== second) {
    second = whole;
    written = new Date(whole * 1000).toISOString().slice(0, 20);
  }
  return `${written}${String(1e6 + (micros % 1e6)).slice(1)}Z`;
}

/** The time of day is set now and then. Not for a millisecond, or stages of one request would seem out of order. */
function compare(now: number): void {
  const apart = Date.now() - now - offset;
  if (Math.abs(apart) > 5) offset += apart;
  comparedAt = now;
}
