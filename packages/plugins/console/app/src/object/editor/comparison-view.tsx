import { useEffect, useRef, useState } from "preact/hooks";
import { texts } from "../../texts.ts";
import { shadowOf } from "./shadow.ts";

interface ComparisonProps {
  readonly before: { readonly text: string; readonly label: string };
  readonly after: { readonly text: string; readonly label: string };
}

/** Width in CSS pixels from which two texts are shown side by side. */
const WIDE = 860;

/** What differs between two texts. */
export function Comparison({ before, after }: ComparisonProps) {
  const host = useRef<HTMLDivElement>(null);
  const [isWide, setWide] = useState(true);
  const [note, setNote] = useState<string | undefined>(texts.loading);
  useEffect(() => {
    let remove: (() => void) | undefined;
    let isEnded = false;
    const show = ({ createComparison }: typeof import("./comparison.ts")) => {
      const { current } = host;
      if (isEnded || current === null) return;
      const wide = current.clientWidth >= WIDE;
      setWide(wide);
      setNote(undefined);
      remove = createComparison({ root: shadowOf(current), before, after, isWide: wide });
    };
    import("./comparison.ts").then(show, () => setNote(texts.object.notLoaded));
    return () => {
      isEnded = true;
      remove?.();
    };
  }, [before.text, after.text, before.label, after.label]);
  return (
    <div class="comparison">
      <p class={isWide ? "comparison-labels wide" : "comparison-labels"}>
        <span class="before">{before.label}</span>
        <span class="after">{after.label}</span>
      </p>
      {note !== undefined && <p class="muted">{note}</p>}
      <div class="editor-host" ref={host} />
    </div>
  );
}
