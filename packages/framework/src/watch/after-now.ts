/**
 * Asks a question whose answer must not be older than the asking: one under way answers for everybody who asked before it
 * was put, those who come later share the next.
 */
export function askedAfterNow<T>(ask: () => Promise<T>): () => Promise<T> {
  let underWay: Promise<T> | undefined;
  let next: Promise<T> | undefined;
  const put = (): Promise<T> => {
    if (underWay === undefined) {
      underWay = ask().finally(() => {
        underWay = undefined;
      });
      return underWay;
    }
    next ??= underWay
      .catch(() => undefined)
      .then(() => {
        next = undefined;
        return put();
      });
    return next;
  };
  return put;
}
