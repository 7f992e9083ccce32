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
  /** Why it does not get on; the user has to do something about it. */
  readonly problem?: string | undefined;
  readonly children?: ComponentChildren;
}

/** State of the objects that a dialog has made, live. */
export function Progress({ conditions, isDone, waiting, done, problem, children }: ProgressProps) {
  const ref = useRef<HTMLParagraphElement>(null);
  // The form had the focus, and is gone: screen readers read on here.
  useEffect(() => ref.current?.focus(), []);
  return (
    <>
      <p role="status" tabIndex={-1} ref={ref}>
        <span class={`badge ${isDone ? "good" : problem === undefined ? "warning" : "failed"}`}>
          {isDone ? texts.ready : problem === undefined ? texts.waiting : texts.notReady}
        </span>{" "}
        {isDone ? done : (problem ?? waiting)}
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
