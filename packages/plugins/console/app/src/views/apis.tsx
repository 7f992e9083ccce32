import { useEffect, useState } from "preact/hooks";
import { asStatusError, type StatusError } from "../api/client.ts";
import { type Resource, readResources } from "../api/discovery.ts";
import { Problem } from "../ui/problem.tsx";
import { texts } from "./texts.ts";

type Read = { readonly resources: readonly Resource[] } | { readonly error: StatusError };

/** The resources that a view serves, as its discovery has them. */
export function Apis({ path, name }: { readonly path: string; readonly name: string }) {
  const [read, setRead] = useState<Read>();
  useEffect(() => {
    const stop = new AbortController();
    readResources(path, stop.signal).then(
      (resources) => setRead({ resources }),
      (cause) => {
        if (!stop.signal.aborted) setRead({ error: asStatusError(cause) });
      },
    );
    return () => stop.abort();
  }, [path]);
  if (read === undefined) return <p class="muted">{texts.loading}</p>;
  if ("error" in read) return <Problem error={read.error} />;
  if (read.resources.length === 0) return <p class="muted">{texts.apis.none}</p>;
  return (
    <ul class="apis" aria-label={texts.apis.of(name)}>
      {[...Map.groupBy(read.resources, ({ group, version }) => `${group || texts.core}/${version}`)].map(
        ([version, resources]) => (
          <li key={version}>
            <strong>{version}</strong> {resources.map(({ resource }) => resource).join(", ")}
          </li>
        ),
      )}
    </ul>
  );
}
