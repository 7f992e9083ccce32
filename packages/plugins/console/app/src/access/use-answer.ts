import { useEffect, useState } from "preact/hooks";
import { asStatusError, type StatusError } from "../api/client.ts";

export interface Loaded<T> {
  readonly value?: T;
  readonly error?: StatusError;
  readonly isBusy: boolean;
}

/** Result of a request, which is sent again when the key changes. Undefined key: none. The last result stays until the next. */
export function useAnswer<T>(
  key: string | undefined,
  ask: () => Promise<T>,
): Loaded<T> & { readonly again: () => void } {
  const [state, setState] = useState<Loaded<T>>({ isBusy: key !== undefined });
  const [round, setRound] = useState(0);
  useEffect(() => {
    if (key === undefined) {
      setState({ isBusy: false });
      return undefined;
    }
    let isOver = false;
    setState((last) => ({ ...last, isBusy: true }));
    ask().then(
      (value) => !isOver && setState({ value, isBusy: false }),
      (error: unknown) => !isOver && setState({ error: asStatusError(error), isBusy: false }),
    );
    return () => {
      isOver = true;
    };
  }, [key, round]);
  return { ...state, again: () => setRound((last) => last + 1) };
}
