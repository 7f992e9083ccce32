/** Asks a question that is not asked again while it is under way: whoever asks meanwhile gets the same answer. */
export function askedOnce<T>(ask: () => Promise<T>): () => Promise<T> {
  let underWay: Promise<T> | undefined;
  return () => {
    underWay ??= ask().finally(() => {
      underWay = undefined;
    });
    return underWay;
  };
}
