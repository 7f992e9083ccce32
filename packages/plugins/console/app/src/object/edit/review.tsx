import { useEffect, useMemo, useRef } from "preact/hooks";
import { Comparison } from "../editor/comparison-view.tsx";
import { changeTexts } from "../editor/texts.ts";
import type { WholeObject } from "../live-object.ts";
import { inOrderOf, type Shown, shownPart, yamlOf } from "../yaml/object-text.ts";
import { changesBetween, pathText } from "./changes.ts";

interface ReviewProps {
  /** The object as it is; undefined for one that does not exist yet, with `typed` to compare with. */
  readonly before: WholeObject;
  /** The object as the server would store it. */
  readonly after: WholeObject;
  readonly shown: Shown;
  readonly isNew?: boolean;
  readonly isBusy: boolean;
  readonly onSave: () => void;
  readonly onBack: () => void;
}

/** Changed fields that are named in the document at most. */
const MOST = 30;

/** What the server would store, compared with what is there now. */
export function Review({ before, after, shown, isNew = false, isBusy, onSave, onBack }: ReviewProps) {
  const words = changeTexts.review;
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  const { from, to, changes } = useMemo(() => {
    const visible = { ...shown, serverFields: false };
    const old = shownPart(before, visible);
    const next = inOrderOf(shownPart(after, visible), old);
    return { from: yamlOf(old), to: yamlOf(next), changes: changesBetween(old, next) };
  }, [before, after, shown]);
  const names = changes.slice(0, MOST).map(({ path }) => pathText(path));
  const mayGoOn = isNew || changes.length > 0;
  return (
    <section class="review" aria-labelledby="review">
      <h3 id="review" tabIndex={-1} ref={heading}>
        {isNew ? words.headingNew : words.heading}
      </h3>
      <p>
        {changes.length === 0 && (isNew ? words.asTyped : words.nothing)}
        {changes.length > 0 && (isNew ? words.defaults(changes.length) : words.changes(changes.length))}
        {names.length > 0 && (
          <>
            {" "}
            <code>{names.join(", ")}</code>
            {changes.length > MOST && " …"}
          </>
        )}
      </p>
      <div class="row">
        <button type="button" class="primary" disabled={isBusy || !mayGoOn} onClick={onSave}>
          {isBusy ? words.saving : isNew ? words.create : words.save}
        </button>
        <button type="button" disabled={isBusy} onClick={onBack}>
          {words.back}
        </button>
      </div>
      <Comparison
        before={{ text: from, label: isNew ? words.typed : words.now }}
        after={{ text: to, label: isNew ? words.result : words.after }}
      />
    </section>
  );
}
