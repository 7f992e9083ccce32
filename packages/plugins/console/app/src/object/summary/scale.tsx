import { useEffect, useId, useState } from "preact/hooks";
import { asStatusError, request, type StatusError } from "../../api/client.ts";
import { FIELD_MANAGER, type ObjectAddress, objectPath } from "../../api/objects.ts";
import type { KubernetesObject } from "../../api/types.ts";
import { texts } from "../../texts.ts";
import { confirmDone } from "../../ui/announce.tsx";

interface ScaleObject extends KubernetesObject {
  readonly spec?: { readonly replicas?: number };
  readonly status?: { readonly replicas?: number };
}

interface ScaleProps {
  readonly address: ObjectAddress;
  /** Resource version of the object: its scale is read again when it changes. */
  readonly version: string;
}

/** The wanted and the actual number of replicas, by the subresource `scale`. */
export function Scale({ address, version }: ScaleProps) {
  const path = `${objectPath(address)}/scale`;
  const [scale, setScale] = useState<ScaleObject>();
  const [typed, setTyped] = useState<string>();
  const [error, setError] = useState<StatusError>();
  const id = useId();
  const words = texts.object.scale;
  // A new version of the object may have another scale.
  useEffect(() => {
    const stop = new AbortController();
    request<ScaleObject>(path, { signal: stop.signal }).then(setScale, (cause: unknown) => {
      if (!stop.signal.aborted) setError(asStatusError(cause));
    });
    return () => stop.abort();
  }, [path, version]);
  const current = scale?.spec?.replicas ?? 0;
  const wanted = Number(typed);
  const isChanged = typed !== undefined && typed.trim() !== "" && wanted !== current;
  const save = async (event: Event) => {
    event.preventDefault();
    if (scale === undefined || !isChanged) return;
    try {
      // Without a version: only the number is meant, whatever else has changed.
      const { resourceVersion: _, ...metadata } = scale.metadata;
      const body = { ...scale, metadata, spec: { ...scale.spec, replicas: wanted } };
      setScale(await request<ScaleObject>(path, { method: "PUT", body, parameters: { fieldManager: FIELD_MANAGER } }));
      setTyped(undefined);
      setError(undefined);
      confirmDone(words.done(wanted));
    } catch (cause) {
      setError(asStatusError(cause));
    }
  };
  if (scale === undefined) return <span class="error">{error?.message}</span>;
  return (
    <form class="scale" onSubmit={(event) => void save(event)}>
      <input
        type="number"
        min={0}
        step={1}
        aria-label={words.label}
        aria-describedby={id}
        aria-invalid={error !== undefined}
        value={typed ?? String(current)}
        onInput={({ currentTarget }) => setTyped(currentTarget.value)}
      />
      <button type="submit" disabled={!isChanged}>
        {words.set}
      </button>
      <span class="muted">{words.actual(scale.status?.replicas ?? 0)}</span>
      <p class="error" id={id} role="alert">
        {error?.message}
      </p>
    </form>
  );
}
