/**
 * Asks a question whose answer must not be older than the asking: one under way answers for everybody who asked before it
 * was put, those who come later share the next.
 */
export function askedAfterNow<T, A extends readonly unknown[] = []>(
  ask: (...args: A) => Promise<T>,
): (...args: A) => Promise<T> {
  let underWay: Promise<T> | undefined;
  let next: Promise<T> | undefined;
  const put = (...args: A): Promise<T> => {
    if (underWay === undefined) {
      underWay = ask(...args).finally(() => {
        underWay = undefined;
      });
      return underWay;
    }
    next ??= underWay
      .catch(() => undefined)
      .then(() => {
        next = undefined;
        return put(...args);
      });
    return next;
  };
  return put;
}
