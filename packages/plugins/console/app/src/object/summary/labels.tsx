import { useState } from "preact/hooks";
import { texts } from "../../texts.ts";

type Values = Readonly<Record<string, string>>;

/** Labels, one beside the other. */
export function Labels({ labels }: { readonly labels: Values }) {
  return (
    <ul class="labels">
      {Object.entries(labels).map(([key, value]) => (
        <li key={key} class="label">
          <bdi>{key}</bdi>
          {value !== "" && (
            <>
              =<bdi>{value}</bdi>
            </>
          )}
        </li>
      ))}
    </ul>
  );
}

/** Characters of a value that are shown before it is opened. */
const SHORT = 240;
/** Characters that are shown after it. More than that makes browsers slow: the YAML has all. */
const LONG = 50_000;

/** Texts by key. Long ones are folded. */
export function LongValues({ values }: { readonly values: Values }) {
  return (
    <dl class="long-values">
      {Object.entries(values).map(([key, value]) => (
        <div key={key}>
          <dt>
            <bdi>{key}</bdi>
          </dt>
          <dd>
            <LongValue value={value} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** A text that is folded if it is long. */
export function LongValue({ value }: { readonly value: string }) {
  const [isOpen, setOpen] = useState(false);
  const words = texts.object.values;
  const isLong = value.length > SHORT;
  const shown = value.slice(0, isOpen ? LONG : SHORT);
  return (
    <>
      <span class="value" dir="auto">
        {shown}
        {shown.length < value.length && "…"}
      </span>
      {isLong && (
        <>
          {" "}
          <button type="button" class="link" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            {isOpen ? words.less : words.more(value.length)}
          </button>
          {isOpen && value.length > LONG && <p class="hint">{words.cut(LONG)}</p>}
        </>
      )}
    </>
  );
}
