/** Offset between `performance.now()` and the time of day, ms. */
let offset = performance.timeOrigin;
let comparedAt = performance.now();
/** Last formatted second, which most times share. */
let second = Number.NaN;
let written = "";

/** Formats a time of `performance.now()` as Kubernetes does (`metav1.MicroTime`): `2026-11-21T17:33:10.123456Z`. */
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

/** Follows adjustments of the system clock, but not by a millisecond: stages of one request would seem out of order. */
function compare(now: number): void {
  const apart = Date.now() - now - offset;
  if (Math.abs(apart) > 5) offset += apart;
  comparedAt = now;
}
