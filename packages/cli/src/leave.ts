/** How long what is left may hold the process once all is closed, ms: an etcd that was being waited for would, for seconds. */
const LINGER = 500;

/** Sees to it that the process ends soon. @returns the exit code that it ends with */
export function leave(code: number): number {
  setTimeout(() => process.exit(code), LINGER).unref();
  return code;
}
