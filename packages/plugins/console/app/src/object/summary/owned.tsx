import { useEffect, useState } from "preact/hooks";
import type { Discovery } from "../../api/discovery.ts";
import type { ObjectAddress } from "../../api/objects.ts";
import { texts } from "../../texts.ts";
import { linkTo } from "../links.ts";
import type { WholeObject } from "../live-object.ts";
import { findOwned, type OwnedSoFar } from "./find-owned.ts";

interface OwnedProps {
  readonly object: WholeObject;
  readonly address: ObjectAddress;
  readonly found: Discovery;
}

/** What an object owns. That takes a list of each kind, so it waits for a click. */
export function Owned({ object, address, found }: OwnedProps) {
  const [search, setSearch] = useState<AbortController>();
  const [state, setState] = useState<OwnedSoFar>();
  const words = texts.object.owned;
  const { uid = "" } = object.metadata;
  useEffect(() => () => search?.abort(), [search]);
  const start = () => {
    const stop = new AbortController();
    setState(undefined);
    setSearch(stop);
    void findOwned({ owner: address, uid, found }, setState, stop.signal);
  };
  const isBusy = search !== undefined && (state === undefined || state.done < state.total);
  return (
    <section aria-labelledby="owned">
      <h3 id="owned">{words.heading}</h3>
      <p class="row">
        <button type="button" disabled={isBusy || found.state !== "ready"} onClick={start}>
          {search === undefined ? words.find : words.again}
        </button>
        <span class="muted" role="status">
          {isBusy && (state === undefined ? texts.loading : words.progress(state.done, state.total))}
          {!isBusy && state !== undefined && words.found(state.objects.length)}
        </span>
      </p>
      {state !== undefined && state.objects.length > 0 && (
        <ul class="owned">
          {state.objects.map(({ resource, namespace, name }) => (
            <li key={`${resource.group}/${resource.resource}/${namespace}/${name}`}>
              <a href={linkTo({ workspace: address.workspace, resource, namespace, name })}>
                {resource.kind} <bdi>{name}</bdi>
              </a>{" "}
              {namespace !== "" && namespace !== address.namespace && <span class="muted">{namespace}</span>}
            </li>
          ))}
        </ul>
      )}
      {state !== undefined && state.skipped.length > 0 && <p class="hint">{words.skipped(state.skipped.join(", "))}</p>}
      {state !== undefined && state.cut.length > 0 && <p class="hint">{words.cut(state.cut.join(", "))}</p>}
    </section>
  );
}
