/** A time as Kubernetes writes it (metav1.Time): RFC 3339 in UTC, whole seconds. */
export function formatTime(time: Date): string {
  return `${time.toISOString().slice(0, -".000Z".length)}Z`;
}
