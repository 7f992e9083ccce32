import { useState } from "preact/hooks";
import { Copy } from "../../kcp/copy.tsx";
import { texts } from "../../texts.ts";
import type { WholeObject } from "../live-object.ts";
import { isFields } from "../yaml/object-text.ts";
import { LongValue } from "./labels.tsx";

interface Entry {
  readonly key: string;
  /** Undefined for bytes that are no text. */
  readonly text: string | undefined;
  /** Number of bytes. */
  readonly size: number;
}

/** True if the data of an object is secret. */
export const isSecret = ({ apiVersion, kind }: WholeObject): boolean => apiVersion === "v1" && kind === "Secret";

/**
 * The keys and values of a ConfigMap or a Secret; nothing for other objects.
 *
 * Security: a value of a Secret is in the document only while the user has it shown.
 */
export function Data({ object }: { readonly object: WholeObject }) {
  const isHidden = isSecret(object);
  if (!isHidden && !(object.apiVersion === "v1" && object.kind === "ConfigMap")) return null;
  const entries = entriesOf(object, isHidden);
  const words = texts.object.data;
  return (
    <section aria-labelledby="data">
      <h3 id="data">{words.heading}</h3>
      {entries.length === 0 && <p class="muted">{words.none}</p>}
      <dl class="long-values">
        {entries.map((entry) => (
          <div key={entry.key}>
            <dt>
              <bdi>{entry.key}</bdi>
            </dt>
            <dd>{isHidden ? <Hidden entry={entry} /> : <Copyable entry={entry} />}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

function Hidden({ entry }: { readonly entry: Entry }) {
  const [isShown, setShown] = useState(false);
  const words = texts.object.data;
  const label = isShown ? words.hide : words.show;
  return (
    <>
      {isShown ? <Value entry={entry} /> : <span class="muted">{words.hidden(entry.size)}</span>}{" "}
      <button type="button" class="link" aria-label={`${label} ${entry.key}`} onClick={() => setShown(!isShown)}>
        {label}
      </button>
    </>
  );
}

function Copyable({ entry }: { readonly entry: Entry }) {
  const { key, text } = entry;
  const { copy, copyOf } = texts.object.data;
  return (
    <>
      <Value entry={entry} /> {text !== undefined && <Copy label={copy} name={copyOf(key)} text={() => text} />}
    </>
  );
}

const Value = ({ entry: { text, size } }: { readonly entry: Entry }) =>
  text === undefined ? <span class="muted">{texts.object.data.binary(size)}</span> : <LongValue value={text} />;

function entriesOf(object: WholeObject, isEncoded: boolean): readonly Entry[] {
  const read = (field: string, isBase64: boolean): readonly Entry[] => {
    const values = object[field];
    if (!isFields(values)) return [];
    return Object.entries(values).map(([key, value]) => ({ key, ...(isBase64 ? decoded : plain)(String(value)) }));
  };
  return [...read("data", isEncoded), ...read("binaryData", true)];
}

const plain = (text: string) => ({ text, size: new TextEncoder().encode(text).length });

/** The text of a base64 value, if its bytes are UTF-8 without control characters. */
function decoded(base64: string): Omit<Entry, "key"> {
  try {
    const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
    return { text: textOf(bytes), size: bytes.length };
  } catch {
    return { text: undefined, size: base64.length };
  }
}

function textOf(bytes: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return text.includes("\u0000") ? undefined : text;
  } catch {
    return undefined;
  }
}
