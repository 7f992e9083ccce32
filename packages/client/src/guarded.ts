/** A report that throws must not end what reports, nor be lost: it ends as an uncaught exception. */
export function guarded<T>(tell: (what: T) => void): (what: T) => void {
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
