import { useEffect, useRef, useState } from "preact/hooks";
import { confirmDone } from "../../ui/announce.tsx";
import { Comparison } from "../editor/comparison-view.tsx";
import { changeTexts } from "../editor/texts.ts";
import { pathText } from "./changes.ts";
import type { Draft } from "./draft.ts";

interface OutdatedProps {
  readonly draft: Draft;
  readonly onDone: () => void;
  /** Grows each time the user tries to go on without a choice. */
  readonly attempts: number;
}

/** Says that an object has changed while it is edited, and offers what can be done. */
export function Outdated({ draft, onDone, attempts }: OutdatedProps) {
  const choices = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (attempts > 0) choices.current?.querySelector<HTMLElement>("button:enabled")?.focus();
  }, [attempts]);
  const [choice, setOpen] = useState<boolean>();
  const words = changeTexts.outdated;
  // Rendered again while the user types: what overlaps changes with the text.
  const text = draft.text.value;
  const merged = draft.merged();
  const conflicts = merged?.conflicts ?? [];
  const isOpen = choice ?? conflicts.length > 0;
  const merge = () => {
    const now = draft.merged();
    if (now === undefined) return;
    draft.take(now);
    onDone();
    confirmDone(words.merged);
  };
  const finish = (act: () => void) => {
    act();
    onDone();
  };
  return (
    <section class="object-note warning outdated" aria-label={words.heading}>
      <p role="alert" id="outdated-reason">
        <strong>{words.heading}</strong> {merged === undefined && words.invalid}
        {merged !== undefined && conflicts.length === 0 && words.mergeable}
        {conflicts.length > 0 && words.conflicts(conflicts.map(pathText).join(", "))}
      </p>
      {attempts > 0 && <p role="alert">{words.first}</p>}
      <div class="row" ref={choices}>
        <button
          type="button"
          aria-disabled={merged === undefined}
          aria-describedby={merged === undefined ? "outdated-reason" : undefined}
          onClick={merge}
        >
          {words.merge}
        </button>
        <button type="button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? words.hide : words.show}
        </button>
        <button type="button" onClick={() => finish(() => draft.takeTheirs())}>
          {words.theirs}
        </button>
        <button type="button" onClick={() => finish(() => draft.keepMine())}>
          {words.mine}
        </button>
      </div>
      {isOpen && (
        <Comparison
          before={{ text: draft.newestText.value, label: words.onServer }}
          after={{ text, label: words.yours }}
        />
      )}
    </section>
  );
}
