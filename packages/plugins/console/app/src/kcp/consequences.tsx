import { useEffect, useState } from "preact/hooks";
import { queryPath, type ResourceId, resourcePath, workspacePath } from "../api/base.ts";
import { request } from "../api/client.ts";
import { discovery } from "../api/discovery.ts";
import type { ObjectAddress } from "../api/objects.ts";
import { clusterOf, type List } from "../api/types.ts";
import { Problem } from "../ui/problem.tsx";
import { useClusterPaths } from "../workspaces/cluster-paths.ts";
import { useBindings } from "./export/use-bindings.ts";
import { type ApiBinding, type ApiExport, nameOfClaim } from "./kinds.ts";
import { placeOf } from "./links.tsx";
import { texts } from "./texts.ts";

interface ConsequencesProps {
  readonly address: ObjectAddress;
  readonly object: ApiBinding | ApiExport;
}

/** What else ends when an APIBinding or an APIExport is deleted. */
export function Consequences({ address, object }: ConsequencesProps) {
  const { workspace, resource } = address;
  if (resource.resource === "apibindings") return <OfBinding workspace={workspace} object={object as ApiBinding} />;
  return <OfExport workspace={workspace} object={object as ApiExport} />;
}

interface OfProps<T> {
  readonly workspace: string;
  readonly object: T;
}

/** The server deletes the objects of the bound resources. */
function OfBinding({ workspace, object }: OfProps<ApiBinding>) {
  const found = discovery(workspace).value.resources;
  const bound = object.status?.boundResources ?? [];
  if (bound.length === 0) return <p>{texts.deletion.nothingBound}</p>;
  return (
    <ul class="consequences">
      {bound.map((one) => {
        const served = found.find(
          ({ group, resource, isPreferred }) => isPreferred && group === one.group && resource === one.resource,
        );
        return (
          <li key={`${one.group}/${one.resource}`}>
            <ObjectsDeleted workspace={workspace} name={nameOfClaim(one)} id={served} />
          </li>
        );
      })}
    </ul>
  );
}

interface ObjectsDeletedProps {
  readonly workspace: string;
  readonly name: string;
  /** Undefined until it is known in which version the workspace serves the resource. */
  readonly id: ResourceId | undefined;
}

function ObjectsDeleted({ workspace, name, id }: ObjectsDeletedProps) {
  const [count, setCount] = useState<number>();
  const path = id === undefined ? undefined : resourcePath(id);
  useEffect(() => {
    if (path === undefined) return undefined;
    const stop = new AbortController();
    countOf(workspace, path, stop.signal).then(setCount, () => undefined);
    return () => stop.abort();
  }, [workspace, path]);
  return <>{texts.deletion.objects(name, workspace, count)}</>;
}

/** Number of objects: from the query view, else from the first page of the list. Undefined where neither says it. */
async function countOf(workspace: string, path: string, signal: AbortSignal): Promise<number | undefined> {
  const options = { parameters: { limit: 1 }, signal };
  const read = (base: string) => request<List<unknown>>(`${base}/${path}`, options).catch(() => undefined);
  const found = await read(queryPath(workspace));
  if (found?.metadata.query !== undefined) return found.metadata.query.total;
  const list = await read(workspacePath(workspace));
  if (list === undefined) return undefined;
  const { remainingItemCount, continue: next } = list.metadata;
  if (next && remainingItemCount === undefined) return undefined;
  return (list.items ?? []).length + (remainingItemCount ?? 0);
}

/** Workspaces that are named at most. */
const MOST = 20;

function OfExport({ workspace, object }: OfProps<ApiExport>) {
  const cluster = clusterOf(object) || workspace;
  const { bindings, isLoading, isPartial, ...found } = useBindings({ workspace, cluster, name: object.metadata.name });
  const problem = found.error ?? found.trouble;
  const pathOf = useClusterPaths(bindings.map(placeOf));
  const words = texts.deletion;
  if (isLoading && bindings.length === 0) return <p class="muted">{texts.loading}</p>;
  return (
    <div class="consequences">
      {bindings.length > 0 && (
        <>
          <p>{words.bound(bindings.length)}</p>
          <ul>
            {bindings.slice(0, MOST).map((one) => (
              <li key={one.metadata.uid}>
                <bdi>{pathOf(placeOf(one))}</bdi>
              </li>
            ))}
          </ul>
          {bindings.length > MOST && <p class="hint">{texts.more(bindings.length - MOST)}</p>}
        </>
      )}
      {problem !== undefined && (
        <Problem error={problem} heading={texts.export.bindings.unread(problem.code, problem.reason)} />
      )}
      {bindings.length === 0 && problem === undefined && <p>{words.notBound}</p>}
      {isPartial && problem === undefined && <p class="hint">{texts.export.bindings.partial}</p>}
    </div>
  );
}
