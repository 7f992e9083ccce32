import "../object/object.css";
import "./views.css";
import { useEffect, useState } from "preact/hooks";
import { apiUrl, resourcePath } from "../api/base.ts";
import { asStatusError, request, type StatusError } from "../api/client.ts";
import type { ObjectAddress } from "../api/objects.ts";
import { clusterOf } from "../api/types.ts";
import { Copy } from "../kcp/copy.tsx";
import { BINDINGS } from "../kcp/kinds.ts";
import { ObjectLink } from "../kcp/links.tsx";
import { Comparison } from "../object/editor/comparison-view.tsx";
import type { WholeObject } from "../object/live-object.ts";
import { inOrderOf, isFields, shownPart, yamlOf } from "../object/yaml/object-text.ts";
import { isMounted } from "../workspaces/mounted.ts";
import { useServerViews } from "./server-views.ts";
import { texts } from "./texts.ts";
import { type Candidate, candidatesFor } from "./views-of-object.ts";

interface ObjectViewsProps {
  readonly address: ObjectAddress;
  readonly object: WholeObject;
}

/** Which views show an object, and how it looks there. */
export function ObjectViewsTab({ address, object }: ObjectViewsProps) {
  const mounted = isMounted(address.workspace);
  if (mounted === undefined) return <p class="muted">{texts.loading}</p>;
  // The logical cluster of such an object is one of its server: here it may be another workspace, with an object of the same name.
  if (mounted) return <p class="empty">{texts.object.mounted(address.workspace)}</p>;
  return <ViewsOfObject address={address} object={object} />;
}

function ViewsOfObject({ address, object }: ObjectViewsProps) {
  const { views, isLoading } = useServerViews();
  const cluster = clusterOf(object) || address.workspace;
  const candidates = candidatesFor(address, cluster, views);
  const [unserved, setUnserved] = useState<ReadonlySet<string>>(new Set());
  const shown = candidates.filter(({ path }) => !unserved.has(path));
  const words = texts.object;
  return (
    <div class="object-views">
      <p class="hint">{words.hint}</p>
      {shown.length === 0 && <p class="muted">{isLoading ? texts.loading : words.none}</p>}
      {shown.length > 0 && (
        <ul class="views-of-object">
          {shown.map((candidate) => (
            <ViewOfObject
              key={candidate.path}
              candidate={candidate}
              address={address}
              object={object}
              onUnserved={() => setUnserved((before) => new Set([...before, candidate.path]))}
            />
          ))}
        </ul>
      )}
    </div>
  );
}

type Read = { readonly there: WholeObject } | { readonly error: StatusError };

interface ViewOfObjectProps extends ObjectViewsProps {
  readonly candidate: Candidate;
  /** The view does not have the resource. */
  readonly onUnserved: () => void;
}

function ViewOfObject({ candidate, address, object, onUnserved }: ViewOfObjectProps) {
  const [isOpen, setOpen] = useState(false);
  const { name, path, binding } = candidate;
  const at = `${path}/${resourcePath(address.resource, address)}`;
  const read = useRead(at, object.metadata.resourceVersion ?? "", onUnserved);
  const here = yamlOf(partOf(object));
  const there =
    read !== undefined && "there" in read ? yamlOf(inOrderOf(partOf(read.there), partOf(object))) : undefined;
  const words = texts.object;
  // Most views do not have the resource: they are not shown before they have answered.
  if (read === undefined && binding === undefined) return null;
  return (
    <li>
      <p class="row">
        <strong>{name}</strong>
        {binding !== undefined && (
          <span class="muted">
            {words.via} <ObjectLink workspace={address.workspace} id={BINDINGS} name={binding} />
          </span>
        )}
        <State read={read} isSame={there === here} />
        {there !== undefined && (
          <button
            type="button"
            class="link"
            aria-expanded={isOpen}
            aria-label={`${isOpen ? words.hide : words.compare}: ${name}`}
            onClick={() => setOpen(!isOpen)}
          >
            {isOpen ? words.hide : words.compare}
          </button>
        )}
        <Copy label={texts.url} name={texts.urlOf(name)} text={() => apiUrl(at).href} />
      </p>
      <p class="hint">
        <code>{at}</code>
      </p>
      {read !== undefined && "error" in read && read.error.code !== 404 && <p class="hint">{read.error.message}</p>}
      {isOpen && there === here && <p>{words.same}</p>}
      {isOpen && there !== undefined && there !== here && (
        <Comparison before={{ text: here, label: words.here }} after={{ text: there, label: words.there(name) }} />
      )}
    </li>
  );
}

function State({ read, isSame }: { readonly read: Read | undefined; readonly isSame: boolean }) {
  const words = texts.object;
  if (read === undefined) return <span class="muted">{texts.loading}</span>;
  if ("there" in read)
    return <span class={isSame ? "badge good" : "badge warning"}>{isSame ? words.shown : words.different}</span>;
  const { code } = read.error;
  if (code === 404) return <span class="badge">{words.missing}</span>;
  return <span class="badge failed">{code === 403 ? words.forbidden : words.failed(code)}</span>;
}

/** The object without what differs by the request. Large integers are rounded on both sides: only one was read exactly. */
const partOf = (object: WholeObject): unknown => rounded(shownPart(object, { serverFields: false, status: true }));

function rounded(value: unknown): unknown {
  if (typeof value === "bigint") return Number(value);
  if (Array.isArray(value)) return value.map(rounded);
  if (!isFields(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, rounded(one)]));
}

/** Reads an object through a view, and again when the object in its workspace has another version. */
function useRead(at: string, version: string, onUnserved: () => void): Read | undefined {
  const [read, setRead] = useState<Read>();
  useEffect(() => {
    const stop = new AbortController();
    request<WholeObject>(at, { signal: stop.signal }).then(
      (there) => setRead({ there }),
      (cause) => {
        if (stop.signal.aborted) return;
        const error = asStatusError(cause);
        // A 404 that names no object is about the resource.
        if (error.code === 404 && error.status.details?.name === undefined) onUnserved();
        setRead({ error });
      },
    );
    return () => stop.abort();
  }, [at, version]);
  return read;
}
