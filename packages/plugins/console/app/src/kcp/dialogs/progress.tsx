import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { Condition } from "../../api/types.ts";
import { texts } from "../texts.ts";

interface ProgressProps {
  readonly conditions: readonly Condition[];
  readonly isDone: boolean;
  /** What is awaited, and what has been reached. */
  readonly waiting: string;
  readonly done: string;
  readonly children?: ComponentChildren;
}

/** State of the objects that a dialog has made, live. */
export function Progress({ conditions, isDone, waiting, done, children }: ProgressProps) {
  const ref = useRef<HTMLParagraphElement>(null);
  // The form had the focus, and is gone: screen readers read on here.
  useEffect(() => ref.current?.focus(), []);
  return (
    <>
      <p role="status" tabIndex={-1} ref={ref}>
        <span class={`badge ${isDone ? "good" : "warning"}`}>{isDone ? texts.ready : texts.waiting}</span>{" "}
        {isDone ? done : waiting}
      </p>
      {conditions.length > 0 && (
        <ul class="conditions">
          {conditions.map(({ type, status, reason, message }) => (
            <li key={type}>
              <span class={`badge ${status === "True" ? "good" : "warning"}`}>{status}</span> {type}
              {reason && <span class="muted"> {reason}</span>}
              {message && (
                <p class="hint" dir="auto">
                  {message}
                </p>
              )}
            </li>
          ))}
        </ul>
      )}
      {children}
    </>
  );
}
