import { useEffect, useRef, useState } from "preact/hooks";
import { asStatusError, type StatusError } from "../api/client.ts";

interface State<T> {
  readonly value?: T;
  readonly error?: StatusError;
  readonly isBusy: boolean;
}

export interface Answered<T> extends State<T> {
  /** Sends the request again. */
  readonly again: () => void;
}

/**
 * Result of a request, which is sent again when its key or its version changes. With another version the last result stays until
 * the next one comes. No request for an undefined key.
 */
export function useAnswer<T>(key: string | undefined, ask: () => Promise<T>, version = ""): Answered<T> {
  const [state, setState] = useState<State<T>>({ isBusy: key !== undefined });
  const [round, setRound] = useState(0);
  const last = useRef(key);
  useEffect(() => {
    const isOther = last.current !== key;
    last.current = key;
    setState((before) => (isOther ? { isBusy: key !== undefined } : { ...before, isBusy: key !== undefined }));
    if (key === undefined) return undefined;
    let isOver = false;
    ask().then(
      (value) => !isOver && setState({ value, isBusy: false }),
      (error: unknown) => !isOver && setState({ error: asStatusError(error), isBusy: false }),
    );
    return () => {
      isOver = true;
    };
  }, [key, version, round]);
  return { ...(last.current === key ? state : { isBusy: true }), again: () => setRound((before) => before + 1) };
}
