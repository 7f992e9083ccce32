/** A time as metav1.Time writes it: RFC 3339 in UTC, whole seconds. */
export function timestamp(time: Date): string {
  return `${time.toISOString().slice(0, -".000Z".length)}Z`;
}
