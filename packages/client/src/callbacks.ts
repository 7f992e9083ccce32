/** A report that throws must not end what reports, nor be lost: it ends as an uncaught exception. */
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

/** How many texts are remembered; the oldest is forgotten first. */
const REMEMBERED = 1_000;

/** Tells each text once, as far as it remembers. */
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
