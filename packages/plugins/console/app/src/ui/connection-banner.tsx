import { useSignalEffect } from "@preact/signals";
import { useRef, useState } from "preact/hooks";
import { isConnected } from "../api/connection.ts";
import { texts } from "../texts.ts";
import { announce } from "./announce.tsx";

/** Interruptions shorter than this are not shown, in milliseconds: a server that restarts closes all watches. */
const PATIENCE = 1_000;

/** Says that the server is away, until all watches are back. */
export function ConnectionBanner() {
  const [isShown, setShown] = useState(false);
  const wasShown = useRef(false);
  useSignalEffect(() => {
    if (isConnected.value) {
      if (wasShown.current) announce(texts.connection.back);
      wasShown.current = false;
      setShown(false);
      return;
    }
    const timer = setTimeout(() => {
      wasShown.current = true;
      setShown(true);
    }, PATIENCE);
    return () => clearTimeout(timer);
  });
  return (
    <div role="status" aria-live="polite">
      {isShown && <p class="banner">{texts.connection.lost}</p>}
    </div>
  );
}
