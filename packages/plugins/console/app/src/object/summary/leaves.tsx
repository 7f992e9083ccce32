import { texts } from "../../texts.ts";
import type { WholeObject } from "../live-object.ts";
import { isFields } from "../yaml/object-text.ts";
import { LongValue } from "./labels.tsx";

/** Rows of the document. */
const MOST = 80;
/** Parts of an object that the summary shows in another way. */
const ELSEWHERE = new Set(["apiVersion", "kind", "metadata", "data", "binaryData", "stringData"]);

interface Leaf {
  /** Such as `spec.containers[0].image`. */
  readonly path: string;
  readonly text: string;
}

/** The values of an object, each with its path: what its spec and its status say, without YAML. */
export function Leaves({ object }: { readonly object: WholeObject }) {
  const leaves = leavesOf(object);
  if (leaves.length === 0) return null;
  const words = texts.object.leaves;
  return (
    <section aria-labelledby="leaves">
      <h3 id="leaves">{words.heading}</h3>
      <dl class="long-values">
        {leaves.slice(0, MOST).map(({ path, text }) => (
          <div key={path}>
            <dt>
              <bdi>{path}</bdi>
            </dt>
            <dd>
              <LongValue value={text} />
            </dd>
          </div>
        ))}
      </dl>
      {leaves.length > MOST && <p class="hint">{words.more(leaves.length - MOST)}</p>}
    </section>
  );
}

/** The values of an object that {@link Leaves} shows. */
export function leavesOf(object: WholeObject): readonly Leaf[] {
  const leaves: Leaf[] = [];
  for (const [name, value] of Object.entries(object)) if (!ELSEWHERE.has(name)) collect(value, name, leaves);
  // Objects that can be mounted have their URL twice: as kcp's contract names it, and as a proposal does.
  const url = leaves.find(({ path }) => path === "status.URL")?.text;
  return url === undefined ? leaves : leaves.filter(({ path, text }) => path !== "status.url" || text !== url);
}

function collect(value: unknown, path: string, leaves: Leaf[]): void {
  if (value === undefined || value === null || path === "status.conditions") return;
  if (isFields(value) && Object.keys(value).length > 0) {
    for (const [name, inner] of Object.entries(value)) collect(inner, `${path}${stepOf(name)}`, leaves);
  } else if (Array.isArray(value) && value.some((item) => typeof item === "object" && item !== null)) {
    for (const [index, item] of value.entries()) collect(item, `${path}[${index}]`, leaves);
  } else {
    leaves.push({ path, text: Array.isArray(value) ? value.join(", ") : isFields(value) ? "{}" : String(value) });
  }
}

const stepOf = (name: string): string => (/^[\w-]+$/.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`);
