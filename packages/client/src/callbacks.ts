/** Wraps a callback so that an exception it throws does not stop its caller: Node.js reports it as an uncaught exception. */
export function reportingErrors<T>(tell: (what: T) => void): (what: T) => void {
  return (what) => {
    try {
      tell(what);
    } catch (error) {
      queueMicrotask(() => {
        throw error;
      });
    }
  };
}

/** Number of texts to remember. The oldest is removed first. */
const REMEMBERED = 1_000;

/** Wraps a callback so that it receives each remembered text once. */
export function onceEach(tell: (text: string) => void): (text: string) => void {
  let told: Set<string> | undefined;
  return (text) => {
    told ??= new Set();
    if (told.has(text)) return;
    const [oldest] = told;
    if (told.size >= REMEMBERED && oldest !== undefined) told.delete(oldest);
    told.add(text);
    tell(text);
  };
}
